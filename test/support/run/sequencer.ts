import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take 25 seconds, or ten of processor time. At the end of a run, each would leave the other core idle. */
const longest = [
  'test/cli/background.test.ts',
  'test/cli/doctor-hostile.test.ts',
  'test/cli/init-projects.test.ts',
  'test/cli/rehearse.test.ts',
  'test/cli/sdk-once.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/start.test.ts',
  'test/package.test.ts',
  'test/plugins/queues/portable.test.ts',
  'test/site.test.ts',
  'test/conformance/http.test.ts',
  'test/plugins/database/kills.test.ts',
  'test/plugins/inspector/page.test.ts',
  'test/plugins/testing/bad-plugins.test.ts',
  // Four minutes and more, in the long run.
  'test/newcomer.long.test.ts',
  'test/plugins/database/kills-mysql.long.test.ts',
  'test/plugins/database/kills.long.test.ts',
  'test/plugins/database/leaks.long.test.ts',
  'test/plugins/pairs.long.test.ts',
  'test/plugins/queues/kills.long.test.ts',
]

/** Files that take ten seconds, most of which they wait. Begun at the end of a run, they would be all that is left of it. */
const waiting = [
  'docs/examples/examples.test.ts',
  'docs/examples/workflows/kill.test.ts',
  'test/conformance/drain.test.ts',
  'test/conformance/portable-queue.test.ts',
  'test/conformance/slow.test.ts',
  'test/conformance/tls.test.ts',
  'test/conformance/websocket.test.ts',
  'test/conformance/wire.test.ts',
  'test/docs.test.ts',
  'test/kernel/runtime/node/idle.test.ts',
  'test/kernel/runtime/node/pipelining.test.ts',
  'test/plugins/cache/data-redis.test.ts',
  'test/plugins/cron/instances.test.ts',
  'test/plugins/cron/lock.test.ts',
  'test/plugins/database/outbox.test.ts',
  'test/plugins/draining.test.ts',
  'test/plugins/locks/contract.test.ts',
  'test/plugins/mqtt/conformance.test.ts',
  'test/plugins/mqtt/resilience.test.ts',
  'test/plugins/openapi/browser.test.ts',
  'test/plugins/queues/kills.test.ts',
  'test/plugins/queues/outage.test.ts',
  'test/plugins/queues/process-outage.test.ts',
  'test/plugins/queues/process.test.ts',
  'test/plugins/queues/sqs-faults.test.ts',
  'test/plugins/queues/sqs-repeat.test.ts',
  'test/plugins/queues/ui-browser.test.ts',
  'test/plugins/rateLimit/redis.test.ts',
  'test/plugins/session/redis.test.ts',
  'test/plugins/storage/outage.test.ts',
  'test/plugins/testing/outages.test.ts',
  'test/plugins/testing/twins.test.ts',
]

const isIn = (paths: readonly string[], { moduleId }: TestSpecification) =>
  paths.some((path) => moduleId.endsWith(`/${path}`))

/** The projects whose files share processes, and among them the files that have their own. */
const turns = ['cli', '', 'sharing']

/**
 * The files in a random order, which the same seed repeats. Those of the command line begin, which take longest, and most that share processes come
 * last, in succession: vitest ends a shared process as soon as the next file in the order does not share it.
 */
export class RandomOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = numbers(this.ctx.config.sequence.seed)
    const mixed = files
      // Among the others, so that these have the cores meanwhile.
      .map((file) => ({ file, at: random() * (isIn(waiting, file) ? 0.6 : 1) }))
      .sort((a, b) => a.at - b.at)
      .map(({ file }) => file)
    const isLong = (file: TestSpecification) => isIn(longest, file)
    const turnOf = ({ project }: TestSpecification) => turns.indexOf(project.config.isolate ? '' : project.name)
    const inOrder = [...mixed.filter(isLong), ...mixed.filter((file) => !isLong(file))]
    return inOrder.sort((a, b) => turnOf(a) - turnOf(b))
  }
}

/** Numbers from 0 to 1 that a seed determines (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take twenty seconds, or ten of processor time. At the end of a run, each would leave the other core idle. */
const longest = [
  'test/cli/background.test.ts',
  'test/cli/doctor-hostile.test.ts',
  'test/cli/init-projects.test.ts',
  'test/cli/rehearse.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/start.test.ts',
  'test/docs.test.ts',
  'test/newcomer.test.ts',
  'test/package.test.ts',
  'test/plugins/queues/kills.test.ts',
  'test/plugins/queues/pgboss-10.test.ts',
  'test/plugins/queues/portable.test.ts',
  'test/plugins/queues/process.test.ts',
  'test/plugins/queues/ui-browser.test.ts',
  'test/site.test.ts',
  'docs/examples/examples.test.ts',
  'docs/examples/workflows/kill.test.ts',
  'test/conformance/http.test.ts',
  'test/conformance/portable-queue.test.ts',
  'test/conformance/websocket.test.ts',
  'test/conformance/wire.test.ts',
  'test/plugins/openapi/browser.test.ts',
  'test/plugins/testing/bad-plugins.test.ts',
  'test/plugins/testing/outages.test.ts',
]

/**
 * The files in a random order, which the same seed repeats. The longest begin, and those that share processes come last, in succession: vitest
 * ends a shared process as soon as the next file in the order does not share it.
 */
export class RandomOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = numbers(this.ctx.config.sequence.seed)
    const mixed = files
      .map((file) => ({ file, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ file }) => file)
    const isLong = ({ moduleId }: TestSpecification) => longest.some((path) => moduleId.endsWith(`/${path}`))
    const isSharing = ({ project }: TestSpecification) => !project.config.isolate
    const inOrder = (some: TestSpecification[]) => [...some.filter(isLong), ...some.filter((file) => !isLong(file))]
    const shared = inOrder(mixed.filter(isSharing)).sort((a, b) => a.project.name.localeCompare(b.project.name))
    return [...inOrder(mixed.filter((file) => !isSharing(file))), ...shared]
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

import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../failure.ts'
import { sharedPorts } from '../start/worker.ts'
import { Balancer } from './balancer.ts'
import { type Finding, ofClosing, ofJobs, ofLosses } from './findings.ts'
import { type Application, Instance } from './instance.ts'
import { Jobs } from './jobs.ts'
import type { Closing } from './protocol.ts'
import { isSafe, type Planned, requestsOf } from './requests.ts'
import { orderOf, Traffic } from './traffic.ts'

export interface Rehearsal {
  readonly application: Application
  /** Recorded requests; without them, those that the application describes. */
  readonly recorded: readonly Planned[] | undefined
  readonly isUnsafe: boolean
  /** Requests in a second. */
  readonly rate: number
  readonly seed: number
  /** The port of the balancer; 0 for any. */
  readonly port: number
  /** Milliseconds of traffic before, between and after the replacements. */
  readonly duration: number
  /** Milliseconds after which the platform kills an instance that closes. */
  readonly closeTimeout: number
  note(line: string): void
}

export interface Outcome {
  /** How many responses there were, by status. */
  readonly responses: Readonly<Record<number, number>>
  /** How many connections an instance has refused, which went to another one. */
  readonly refused: number
  /** How many messages queues have accepted. */
  readonly accepted: number
  readonly closing: Closing
  readonly findings: readonly Finding[]
}

/** Milliseconds that jobs have after the traffic. */
const jobsMs = 5000

/** Runs two instances of an application with a load balancer, and replaces both under traffic. */
export async function rehearse(rehearsal: Rehearsal): Promise<Outcome> {
  const { application, closeTimeout } = rehearsal
  const balancer = new Balancer()
  const jobs = new Jobs()
  const all: Instance[] = []
  const start = async () => {
    const instance = new Instance(`instance ${all.length + 1}`, await sharedPorts()('127.0.0.1', 0, 0), application)
    all.push(instance)
    jobs.follow(instance)
    balancer.instances.push(await instance.start())
    return instance
  }
  try {
    return await replaceBoth(rehearsal, balancer, jobs, start)
  } finally {
    balancer.close()
    await Promise.all(all.map((instance) => instance.isEnded || instance.close(closeTimeout)))
  }
}

async function replaceBoth(
  rehearsal: Rehearsal,
  balancer: Balancer,
  jobs: Jobs,
  start: () => Promise<Instance>,
): Promise<Outcome> {
  const { application, duration, recorded, closeTimeout, port, rate, seed, note } = rehearsal
  const [first, second] = [await start(), await start()]
  const requests = chosen(recorded ?? requestsOf(await first.routes()), rehearsal)
  jobs.begin([await first.left(), await second.left()])
  await balancer.listen(port).catch((error: Error) => {
    throw new CommandFailure(`--port: ${error.message}. Choose another port, or leave it out`, error)
  })
  note(`http://127.0.0.1:${balancer.port} passes requests to two instances of ${application.file}`)
  // Recorded requests have an order.
  const next = orderOf(requests.length, recorded === undefined ? seed : undefined)
  const traffic = new Traffic(balancer, requests, rate, next)
  try {
    await pause(duration)
    await traffic.known()
    note('a third one starts, and the first one gets SIGTERM')
    const third = await start()
    const closing = await first.close(closeTimeout)
    if (closing.ended !== 'exit code 0') note(first.output)
    await pause(duration)
    note('the second one gets SIGKILL, and a fourth one starts')
    jobs.mayRepeat = true
    await second.close(0)
    const fourth = await start()
    await pause(duration)
    traffic.stop()
    const lost = await lostJobs(jobs, [third, fourth])
    return {
      responses: traffic.statuses,
      refused: balancer.refused,
      accepted: jobs.accepted,
      closing,
      findings: [...ofLosses(traffic.losses, second), ...ofClosing(closing), ...ofJobs(jobs, lost)],
    }
  } finally {
    traffic.stop()
  }
}

async function lostJobs(jobs: Jobs, instances: readonly Instance[]) {
  for (let waited = 0; ; waited += 250) {
    const lost = jobs.lost(await Promise.all(instances.map((instance) => instance.left())))
    if (lost.length === 0 || waited >= jobsMs) return lost
    await pause(250)
  }
}

/** Leaves out what a rehearsal may not send. */
function chosen(all: readonly Planned[], { application, isUnsafe, note }: Rehearsal): Planned[] {
  const wanted = all.filter(({ path }) => path !== application.health)
  const requests = wanted.filter((one) => isUnsafe || isSafe(one))
  const left = wanted.length - requests.length
  if (left > 0) note(`${left} of ${wanted.length} requests may change data, and are left out without --unsafe`)
  if (requests.length > 0) return requests
  throw new CommandFailure(
    `there is no request to send: ${application.file} has no GET route without parameters, and no examples in OpenAPI. Pass a recording: --requests <file>`,
  )
}

import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../failure.ts'
import { sharedPorts } from '../start/worker.ts'
import { Balancer } from './balancer.ts'
import { type Finding, Findings } from './findings.ts'
import { type Application, type Closing, Instance } from './instance.ts'
import { type Planned, requestsOf } from './requests.ts'
import { Traffic } from './traffic.ts'

export interface Rehearsal {
  readonly application: Application
  /** Without these requests, those that the application describes. */
  readonly listed: readonly Planned[] | undefined
  /** Requests in a second. */
  readonly rate: number
  /** Milliseconds of traffic before, between and after the replacements. */
  readonly duration: number
  note(line: string): void
}

export interface Outcome {
  /** How many responses there were, by status. */
  readonly responses: Readonly<Record<number, number>>
  readonly closing: Closing
  readonly findings: readonly Finding[]
}

/** Runs two instances of an application with a load balancer, and replaces both under traffic. */
export async function rehearse({ application, listed, rate, duration, note }: Rehearsal): Promise<Outcome> {
  const findings = new Findings()
  const balancer = new Balancer()
  const { instances } = balancer
  const start = async () => {
    const port = await sharedPorts()('127.0.0.1', 0, 0)
    const instance = new Instance(`instance ${instances.length + 1}`, port, application)
    instances.push(instance)
    findings.follow(instance)
    return instance.start()
  }
  let traffic: Traffic | undefined
  try {
    const [first, second] = [await start(), await start()]
    const states = [await first.state(), await second.state()]
    findings.begin(states)
    const requests = (listed ?? requestsOf(states[0]!.routes)).filter(({ path }) => path !== application.health)
    if (requests.length === 0) {
      const remedy = 'List requests in a file, such as GET /books/1: --requests <file>'
      throw new CommandFailure(`there is no request to send: every GET route has parameters. ${remedy}`)
    }
    await balancer.listen()
    traffic = new Traffic(balancer, findings, requests, rate)
    note(`a load balancer passes requests to two instances of ${application.file}`)
    await pause(duration)
    await traffic.known()
    note('a third one starts, and the first one gets SIGTERM')
    const third = await start()
    const closing = await first.close()
    findings.addClosing(closing)
    await pause(duration)
    note('the second one gets SIGKILL, and a fourth one starts')
    findings.mayRepeat = true
    second.isKilled = true
    second.kill()
    const fourth = await start()
    await pause(duration)
    traffic.stop()
    await findings.finish(() => Promise.all([third.state(), fourth.state()]))
    return { responses: traffic.statuses, closing, findings: findings.all }
  } finally {
    traffic?.stop()
    balancer.close()
    await Promise.all(instances.map((instance) => instance.isEnded || instance.close()))
  }
}

import { type ChildProcess, fork } from 'node:child_process'
import { Agent, get } from 'node:http'
import { fileURLToPath } from 'node:url'

export interface Plan {
  readonly program: URL
  /** Its arguments, one process for each. The others are compared with the first one. */
  readonly variants: readonly string[]
  readonly path: string
  readonly rounds: number
  readonly seconds: number
  readonly connections?: number
}

export interface Result {
  readonly variant: string
  /** Microseconds of processor time per request: the median of all rounds. */
  readonly cpu: number
  /** The distance between the quartiles, relative to the median. A smaller difference means nothing. */
  readonly spread: number
  /** How many times as cheap as the first variant: compared round by round, then the median. */
  readonly ratio: number
}

type Usage = { readonly cpu: NodeJS.CpuUsage }

/** Resolves with the next message of the process; rejects if the process ends first. */
function next<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the process has ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as Message)
    })
  })
}

function ask(child: ChildProcess): Promise<Usage> {
  const answer = next<Usage>(child)
  child.send('usage')
  return answer
}

/** Sends and counts requests for `seconds`; anything but a 200 ends the measurement, since a fast error is not a result. */
async function load(url: string, agent: Agent, connections: number, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1000
  let count = 0
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent }, (res) => {
        res.resume().on('end', () => (res.statusCode === 200 ? resolve() : reject(new Error(`${res.statusCode}`))))
      }).on('error', reject)
    })
  const client = async () => {
    while (performance.now() < until) {
      await one()
      count++
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  return count
}

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
const sort = (list: readonly number[]) => [...list].sort((a, b) => a - b)

/** Measures the processor time per request of each variant. All processes stay up, and are loaded in turn. */
export async function measure({ program, variants, path, rounds, seconds, connections = 20 }: Plan): Promise<Result[]> {
  const subjects = await Promise.all(
    variants.map(async (variant) => {
      const child = fork(fileURLToPath(program), [variant], {
        execArgv: ['--import', 'tsx'],
        env: { ...process.env, NODE_ENV: 'production' },
      })
      const { url } = await next<{ url: string }>(child)
      const agent = new Agent({ keepAlive: true, maxSockets: connections })
      return { child, agent, url: url + path, costs: [] as number[] }
    }),
  )
  try {
    // The first round warms up: compilers, connections, caches.
    for (let round = 0; round <= rounds; round++) {
      // In a different order each time, so that a passing disturbance of the machine affects all of them.
      for (const subject of [...subjects].sort(() => Math.random() - 0.5)) {
        const before = await ask(subject.child)
        const count = await load(subject.url, subject.agent, connections, seconds)
        const { cpu } = await ask(subject.child)
        const used = cpu.user + cpu.system - before.cpu.user - before.cpu.system
        if (round > 0) subject.costs.push(used / count)
      }
    }
  } finally {
    for (const { child, agent } of subjects) {
      agent.destroy()
      child.disconnect()
    }
  }
  const [{ costs: reference }] = subjects as [(typeof subjects)[number]]
  return subjects.map(({ costs }, i) => {
    const sorted = sort(costs)
    const cpu = quantile(sorted, 0.5)
    return {
      variant: variants[i]!,
      cpu,
      spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / cpu,
      ratio: quantile(sort(costs.map((cost, round) => reference[round]! / cost)), 0.5),
    }
  })
}

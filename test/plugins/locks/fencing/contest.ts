import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { Chance } from '../../../support/chance.ts'

/** What a contest saw. */
export interface Contest {
  readonly seed: number
  readonly rounds: number
  /** Times that the lock was acquired. */
  acquired: number
  /** Writes that the guarded resource has accepted and refused, the latter because a holder with a higher fence had written. */
  accepted: number
  refused: number
  /** Holders that learned that they had lost the lock. */
  lost: number
  /** Processes that received no response in time, such as those that were stopped meanwhile. */
  unanswered: number
  killed: number
  stopped: number
  /** What must never happen. */
  readonly violations: string[]
}

interface Message {
  readonly id: number
  readonly what: string
  readonly fence: number
}

/** One holder of the lock. */
interface Visit {
  readonly by: Holder
  readonly fence: number
}

interface Holder {
  readonly child: ChildProcess
  /** Until when a visit may be that of a process that was stopped meanwhile. */
  disturbedUntil: number
  isDead: boolean
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const script = join(import.meta.dirname, 'holder.mjs')

/** A resource with a guard: it refuses writes with a fence lower than one that it has seen. */
class Guarded {
  readonly seen: Contest
  #highest = 0
  readonly #all = new Set<number>()
  readonly #inside = new Map<number, Visit>()
  /** Holders that were overtaken although no one had disturbed them; only one whose process was too slow may be, and it learns that. */
  readonly #overtaken = new Map<number, Holder>()

  constructor(seen: Contest) {
    this.seen = seen
  }

  take(by: Holder, { what, fence }: Message): boolean {
    if (what === 'enter') return this.#enter({ by, fence })
    if (what === 'write') return this.#write(fence)
    if (what === 'leave') return this.#inside.delete(fence)
    if (what === 'lost') {
      this.seen.lost++
      this.#inside.delete(fence)
      return this.#overtaken.delete(fence)
    }
    if (what === 'unanswered') this.seen.unanswered++
    else this.seen.violations.push(`a process failed: ${what}`)
    return false
  }

  #enter(visit: Visit): boolean {
    const { by, fence } = visit
    this.seen.acquired++
    if (this.#all.has(fence)) this.seen.violations.push(`two holders have the fence ${fence}`)
    this.#all.add(fence)
    // One that was stopped before it could enter comes later than its successor, and has not overtaken it.
    for (const other of this.#inside.values())
      if (other.fence < fence && other.by !== by && !isDisturbed(other.by)) this.#overtaken.set(other.fence, other.by)
    if (fence < this.#highest && !isDisturbed(by)) this.#overtaken.set(fence, by)
    this.#inside.set(fence, visit)
    return this.#write(fence)
  }

  #write(fence: number): boolean {
    const isAccepted = fence >= this.#highest
    this.#highest = Math.max(fence, this.#highest)
    this.seen[isAccepted ? 'accepted' : 'refused']++
    return isAccepted
  }

  /** One that is dead learns nothing any more, also of what it had lost before. */
  forget(by: Holder): void {
    for (const [fence, visit] of this.#inside) if (visit.by === by) this.#inside.delete(fence)
    for (const [fence, holder] of this.#overtaken) if (holder === by) this.#overtaken.delete(fence)
  }

  /** Those that have lost the lock learn it within its ttl; a busy machine may need longer. */
  async close(): Promise<void> {
    await pause(1_500)
    for (let left = 20_000; left > 0 && this.#overtaken.size > 0; left -= 20) await pause(20)
    for (const fence of this.#overtaken.keys()) {
      this.seen.violations.push(`the holder of ${fence} was overtaken and did not learn that its lock was lost`)
    }
  }
}

const isDisturbed = ({ isDead, disturbedUntil }: Holder) => isDead || performance.now() < disturbedUntil

/**
 * Lets several processes take one lock and write to a guarded resource, and kills (SIGKILL) or stops (SIGSTOP, then SIGCONT) one of them in
 * each round, at a random moment; two of five are killed. After each round the lock must pass on.
 */
export async function contest(store: object, seed: number, rounds: number, processes = 4): Promise<Contest> {
  const chance = new Chance(seed)
  const counts = { acquired: 0, accepted: 0, refused: 0, lost: 0, unanswered: 0, killed: 0, stopped: 0 }
  const seen: Contest = { seed, rounds, ...counts, violations: [] }
  const guarded = new Guarded(seen)
  const begin = (): Holder => {
    const child = fork(script, [JSON.stringify(store), String(1 + chance.below(1e9))], {
      execArgv: [],
      stdio: 'inherit',
    })
    const holder: Holder = { child, disturbedUntil: 0, isDead: false }
    child.on('error', () => {})
    child.on('message', (message: Message) => {
      if (holder.isDead) return
      const accepted = guarded.take(holder, message)
      child.send({ id: message.id, accepted }, () => {})
    })
    return holder
  }
  const holders = Array.from({ length: processes }, begin)
  try {
    await progress(seen, processes)
    let kills: boolean[] = []
    for (let round = 0; round < rounds; round++) {
      await pause(chance.below(250))
      const at = chance.below(holders.length)
      const holder = holders[at]!
      if (kills.length === 0) kills = [true, true, false, false, false]
      if (kills.splice(chance.below(kills.length), 1)[0]) {
        seen.killed++
        holder.isDead = true
        holder.child.kill('SIGKILL')
        guarded.forget(holder)
        holders[at] = begin()
      } else {
        seen.stopped++
        holder.disturbedUntil = Number.POSITIVE_INFINITY
        holder.child.kill('SIGSTOP')
        await pause(chance.is(0.3) ? chance.below(500) : 1_000 + chance.below(1_500))
        holder.child.kill('SIGCONT')
        // What it had asked for before may arrive now.
        holder.disturbedUntil = performance.now() + 3_000
      }
      await progress(seen, 1)
    }
    await guarded.close()
  } finally {
    for (const { child } of holders) child.kill('SIGKILL')
  }
  return seen
}

/** Waits until the lock was acquired several times more. */
async function progress(seen: Contest, more: number): Promise<void> {
  const enough = seen.acquired + more
  for (let left = 60_000; left > 0 && seen.acquired < enough; left -= 20) await pause(20)
  if (seen.acquired < enough) seen.violations.push('no process acquires the lock within 60 s')
}

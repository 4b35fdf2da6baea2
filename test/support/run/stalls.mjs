// `node test/support/run/stalls.mjs <pid> [ms]`: until that process ends, stops one of the processes below it after the other, at random, for
// 250 ms by default, as a machine with other work does. What fails beside it takes its own time for that of another. On Linux only.
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const root = Number(process.argv[2])
const ms = Number(process.argv[3] ?? 250)
/** Not the services: tests stop those themselves, and would see them continue. */
const stopped = /node|bun|deno|vitest/i

/** The processes below a process, without its direct children: the test runner only distributes. @param {number} root */
function below(root) {
  /** @type {Map<number, { pid: number, name: string }[]>} */
  const children = new Map()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue
    try {
      const [, name = '', parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8')) ?? []
      const of = children.get(Number(parent)) ?? []
      children.set(Number(parent), [...of, { pid: Number(entry), name }])
    } catch {
      // It has ended in the meantime.
    }
  }
  const all = (/** @type {number} */ pid) => children.get(pid) ?? []
  /** @type {(pid: number) => ReturnType<typeof all>} */
  const under = (pid) => all(pid).flatMap((child) => [child, ...under(child.pid)])
  return all(root)
    .flatMap(({ pid }) => under(pid))
    .filter(({ name }) => stopped.test(name))
    .map(({ pid }) => pid)
}

/** Whether a process could be given the signal. @param {number} pid @param {NodeJS.Signals | 0} signal */
function give(pid, signal) {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

let count = 0
while (give(root, 0)) {
  const all = below(root)
  const pid = all[Math.floor(Math.random() * all.length)]
  if (pid !== undefined && give(pid, 'SIGSTOP')) {
    count++
    setTimeout(() => give(pid, 'SIGCONT'), ms)
  }
  await pause(120)
}
console.log(`${count} stops`)

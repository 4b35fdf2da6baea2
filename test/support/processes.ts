import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process of this machine. */
export interface Process {
  readonly pid: number
  readonly parent: number
}

/**
 * All running processes; one that has ended and was not yet reaped by its parent does not count. On Linux this reads `/proc`: small
 * images have no `ps`.
 */
export function runningProcesses(): Process[] {
  return (process.platform === 'linux' ? statesOfLinux() : statesOfPs())
    .filter(([, state]) => !state.startsWith('Z'))
    .map(([pid, , parent]) => ({ pid: Number(pid), parent: Number(parent) }))
}

/** Whether a process runs. Of one process Linux is asked alone: some tests ask often. */
export function isRunning(pid: number): boolean {
  if (process.platform !== 'linux') return runningProcesses().some((one) => one.pid === pid)
  const [, state = 'Z'] = stateOfLinux(String(pid)) ?? []
  return !state.startsWith('Z')
}

/** The running processes that a process has started. */
export function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const children = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
    return children.join(' ').split(' ').filter(Boolean).map(Number).filter(isRunning)
  } catch {
    return runningProcesses().flatMap((one) => (one.parent === pid ? one.pid : []))
  }
}

type State = [pid: string, state: string, parent: string]

function statesOfLinux(): State[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const state = stateOfLinux(pid)
      return state === undefined ? [] : [state]
    })
}

function stateOfLinux(pid: string): State | undefined {
  try {
    // The name of the program in brackets may have any characters, including brackets.
    const [state = '', parent = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return [pid, state, parent]
  } catch {
    // It has ended.
    return undefined
  }
}

function statesOfPs(): State[] {
  const list = execFileSync('ps', ['-A', '-o', 'pid=,stat=,ppid='], { encoding: 'utf8' })
  return list
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as State)
}

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

type State = [pid: string, state: string, parent: string]

function statesOfLinux(): State[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // The name of the program in brackets may have any characters, including brackets.
        const [state = '', parent = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
        return [[pid, state, parent] satisfies State]
      } catch {
        // It has ended in between.
        return []
      }
    })
}

function statesOfPs(): State[] {
  const list = execFileSync('ps', ['-A', '-o', 'pid=,stat=,ppid='], { encoding: 'utf8' })
  return list
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as State)
}

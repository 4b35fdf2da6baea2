import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { isInstalled, versionIn } from './install.ts'
import type { Runtime } from './runtime.ts'
import { peersFolder, root } from './stage.ts'

// Counted before anything is pinned: afterwards, it would be the number of cores of this process.
const cores = availableParallelism()

function answers(command: string, argument: string): boolean {
  return spawnSync(command, [argument], { stdio: 'ignore' }).error === undefined
}

/** Whether processes can be pinned: the server to core 0, the generator (and this process) to core 1. */
export const canPin = cores > 1 && answers('taskset', '--version')
export const hasWrk = answers('wrk', '--version')
/** Without `/proc`, the CPU times of other processes are not available, and the main figure is wall time. */
export const hasProc = existsSync('/proc/self/stat')

/** Makes a command run on one core, where that is possible. */
export function pinned(core: 0 | 1, command: readonly string[]): string[] {
  return canPin ? ['taskset', '-c', String(core), ...command] : [...command]
}

/** Makes a command run on all cores, whatever this process is pinned to. */
export function unpinned(command: readonly string[]): string[] {
  return canPin ? ['taskset', '-c', `0-${cores - 1}`, ...command] : [...command]
}

/** Moves this process off the core of the servers; its children inherit this until they are pinned themselves. */
export function leaveServerCore(): void {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)], { stdio: 'ignore' })
}

const ticks = hasProc ? Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout || 100) : 100

/** User and system time of all threads of a process so far, in microseconds, with a resolution of (usually) 10 ms. */
export function cpuTime(pid: number): { user: number; system: number } | undefined {
  if (!hasProc) return undefined
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { user: (Number(fields[11]) * 1e6) / ticks, system: (Number(fields[12]) * 1e6) / ticks }
}

/** User and system time of a process and of those that it has started, in microseconds; NaN where the system does not report it. */
export function cpuTimeOfTree(pid: number): number {
  const own = cpuTime(pid)
  if (own === undefined) return Number.NaN
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  const below = children === '' ? [] : children.split(' ').map((child) => cpuTimeOfTree(Number(child)))
  return below.reduce((sum, one) => sum + one, own.user + own.system)
}

/** Exact CPU time of all threads, in milliseconds: a boot has too few ticks of 10 ms to be counted in them. */
export function exactCpuTime(pid: number): number {
  if (!existsSync(`/proc/${pid}/schedstat`)) return Number.NaN
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
  }
  return nanoseconds / 1e6
}

/** Resident memory of a process in MB. */
export function residentMemory(pid: number): number {
  if (!hasProc) return Number.NaN
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return Number(kilobytes) / 1024
}

export function describeProcessor(): string {
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cores} cores, ${memory} GB, ${platform()} ${release()}`
}

/** Facts about the conditions under which the figures were measured, for readers. */
export function describeMachine(runtime: Runtime, packages: readonly string[]): string[] {
  const versions = isInstalled(peersFolder) ? packages.map((name) => `${name} ${versionIn(peersFolder, name)}`) : []
  return [
    describeProcessor(),
    [
      `${runtime.title.split(' ')[0]} ${runtime.version}`,
      ...versions,
      `find-my-way ${versionIn(root, 'find-my-way')}`,
    ].join(', '),
    hasWrk ? 'load by wrk' : 'load by the built-in generator: wrk is not installed, so req/s is what Node can ask for',
    canPin ? 'server on core 0, load on core 1' : 'not pinned: taskset is missing or there is one core',
    ...(hasProc ? [] : ['no /proc: the main figure is wall time per request, not CPU time']),
  ]
}

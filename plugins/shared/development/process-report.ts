/** The name of the store of the handover through which processes report to the inspector. */
export const processStore = 'processes'

/** Milliseconds between two reports of a process whose state does not change, and for which one is kept. */
export const reportEvery = 5_000
export const reportKept = 60 * 60_000

/** How a process of the application is. */
export interface ProcessReport {
  readonly pid: number
  /** The command. */
  readonly runs: string
  /** When it started, in milliseconds since 1970. */
  readonly since: number
  readonly state: 'booting' | 'ready' | 'draining' | 'ended'
  /** How it has ended: `exit code 1`, `SIGKILL`. */
  readonly why?: string | undefined
  /** Bytes of resident memory. */
  readonly memory?: number | undefined
  /** How many processes have had its place before it; absent for one that nothing restarts. */
  readonly restarts?: number | undefined
  /** The address at which it listens. */
  readonly url?: string | undefined
}

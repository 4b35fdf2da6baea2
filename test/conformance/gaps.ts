import type { Target } from './targets.ts'

/** What a runtime's own parser does before the framework sees a request: documented, and nothing an adapter can change. */
export interface Gap {
  /** The name of a vector of the corpus. */
  readonly vector: string
  /** The first statuses that come instead. */
  readonly statuses: readonly number[]
  readonly reason: string
}

const gaps: Readonly<Record<string, readonly Gap[]>> = {
  bun: [{ vector: 'leading line break', statuses: [400], reason: 'Bun takes no empty line before a request' }],
  deno: [
    {
      vector: 'HTTP/1.0 without Host',
      statuses: [400],
      reason: 'Deno does not expose the version, so a Host is always asked for',
    },
    { vector: 'blank after the size', statuses: [200, 200], reason: 'Deno reads `2 ` as a chunk size' },
    { vector: 'bare line feed between headers', statuses: [200], reason: 'Deno takes a bare line feed as a line end' },
    { vector: '2500 headers', statuses: [400], reason: 'Deno answers 400 in place of 431' },
    { vector: '1500 short headers', statuses: [400], reason: 'Deno answers 400 in place of 431' },
    { vector: 'HTTP/2 preface', statuses: [], reason: 'Deno speaks HTTP/2 on the same port' },
  ],
  'deno with node:http': [
    { vector: 'extension of 100 kB', statuses: [200, 200], reason: 'Deno bounds no chunk extensions' },
  ],
}

/** The gap of a target for a vector, if it has one. */
export function gapOf(target: Target, vector: string): Gap | undefined {
  return gaps[target.name]?.find((gap) => gap.vector === vector)
}

/** Bun sends a stream in chunks and drops a `content-length` that was given for it, unless all of it comes before the event loop's next turn. */
export function losesStreamLength(target: Target): boolean {
  return target.name === 'bun'
}

/** `Bun.serve` shows the path of an absolute target alone: its authority cannot take the place of Host. */
export function losesAuthority(target: Target): boolean {
  return target.name === 'bun'
}

/** The web requests of Bun and Deno have no body where the method is GET. */
export function dropsBodyOfGet(target: Target): boolean {
  return target.name === 'bun' || target.name === 'deno'
}

/** Bun closes a connection on which a request arrives before the previous one has its response. */
export function closesPipelines(target: Target): boolean {
  return target.name === 'bun'
}

/** `Bun.serve` looks every four seconds which connections have been idle for too long, and ends none at once that is still sent to. */
export function closesByTicks(target: Target): boolean {
  return target.name === 'bun'
}

/** `Deno.serve` offers HTTP/2 with every certificate, which cannot be turned off. */
export function speaksHttp2(target: Target): boolean {
  return target.name === 'deno'
}

/**
 * `Deno.serve` has no time limits, and keeps a connection as long as the body of its request is being read: nothing a response
 * does ends that, nor does cancelling the read. Applications that need limits there use `node:http`.
 */
export function hasNoTimeLimits(target: Target): boolean {
  return target.name === 'deno'
}

/** Bun's `node:http` times out connections that never spoke without telling them from those that began a request. */
export function answersSilentClients(target: Target): boolean {
  return target.name === 'bun with node:http'
}

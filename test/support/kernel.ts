import { Kernel, type KernelOptions, kernelOptions, type Logger, RouteCollection } from 'framework/kernel'

/** One entry of the log, as plain data. */
export interface Entry {
  level: string
  fields: Record<string, unknown>
  message: string | undefined
}

/** A logger that remembers, children included. */
export function memoryLogger(
  entries: Entry[] = [],
  bound: Record<string, unknown> = {},
): Logger & { entries: Entry[] } {
  const at = (level: string) => (first: string | object, message?: string) => {
    if (typeof first === 'string') entries.push({ level, fields: bound, message: first })
    else entries.push({ level, fields: { ...bound, ...first }, message })
  }
  return {
    entries,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => memoryLogger(entries, { ...bound, ...fields }),
  }
}

/** A kernel of its own: no shared routes, no signals, a quiet logger. */
export function makeKernel(options: KernelOptions = {}): { kernel: Kernel; router: RouteCollection; log: Entry[] } {
  const logger = memoryLogger()
  const router = new RouteCollection()
  const kernel = new Kernel(
    kernelOptions.parse({ port: 0, host: '127.0.0.1', router, logger, gracefulShutdown: false, ...options }),
  )
  return { kernel, router, log: logger.entries }
}

const decoder = new TextDecoder()

/** One request in process: status, headers and the body as text and as JSON. */
export async function send(
  kernel: Kernel,
  url: string,
  method = 'GET',
  more: { headers?: Record<string, string>; body?: string; signal?: AbortSignal } = {},
) {
  const { status, headers, body } = await kernel.inject({ url, method, ...more })
  const text = decoder.decode(body)
  return {
    status,
    headers,
    text,
    get json(): unknown {
      return text === '' ? undefined : JSON.parse(text)
    },
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Keeps the event loop, without the processor: other test files need it. */
export const block = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

import { Readable } from 'node:stream'
import type { Store, Stored, StoreSource, UploadSink, UploadSource } from './store.ts'

/** Runs a sink of the application; `warn` receives files that could not be discarded. */
export function sinkStore(sink: UploadSink, warn: (error: unknown) => void): Store {
  const discard = async (result: unknown) => {
    try {
      await sink.discard?.(result)
    } catch (error) {
      warn(error)
    }
  }

  const written = async (source: UploadSource) => unlessAborted(Promise.resolve(sink.write(source)), source, discard)

  return {
    async write({ content, ...facts }: StoreSource): Promise<Stored> {
      const stream = Readable.from(content, { objectMode: false })
      // If a sink stops reading early, the stream fails, which is not an error; a sink that fails reports that itself.
      stream.on('error', () => {})
      const result = await written({ ...facts, stream }).finally(() => stream.destroy())
      const release = async (failed: boolean) => {
        // Not awaited: the client gets its response however long this takes.
        if (failed) void discard(result)
      }
      return { result, release }
    },
    close: () => Promise.resolve(),
  }
}

/** Stops waiting for a sink that ignores the signal, so that it does not delay the response; its later result is discarded. */
function unlessAborted(
  writing: Promise<unknown>,
  { signal }: UploadSource,
  discard: (result: unknown) => Promise<void>,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      writing.then(discard, () => {})
      reject(signal.reason)
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    writing.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

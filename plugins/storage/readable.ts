import { Readable } from 'node:stream'

/** A stream of the results of `next`, until `null`. `end` releases the source, even if the stream is abandoned. */
export function readableOf(next: () => Promise<Uint8Array | null>, end: () => void): Readable {
  return new Readable({
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      end()
      done(error)
    },
  })
}

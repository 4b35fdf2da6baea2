import { Readable } from 'node:stream'

/** A stream of what `next` gives, until that is `null`. `end` lets go of its source, also when the stream is given up. */
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

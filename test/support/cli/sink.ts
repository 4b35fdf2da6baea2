import { Writable } from 'node:stream'

/** A stream that keeps what is written. What `read()` of a PassThrough gives at once depends on the version of Node.js. */
export class Sink extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

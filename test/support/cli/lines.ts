import { Writable } from 'node:stream'

/** A stream that keeps its input. The immediate result of `read()` of a PassThrough depends on the version of Node.js. */
export class Sink extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/** JSON as one line: for the readline of newer versions of Node.js a line ends at U+2028 and U+2029, too. */
export const asLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)}\n`

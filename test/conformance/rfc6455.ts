import { binary, close, type Frame, more, opcodes, ping, pong, text } from '../support/frames.ts'

/** What comes back: a text that is echoed, pongs, or the code of the close frame. */
export type Outcome = string | number

/** Frames of a client, and the requirements of RFC 6455 for a server that echoes. */
export interface Vector {
  readonly name: string
  readonly frames: readonly Frame[]
  readonly outcome: readonly Outcome[]
}

const utf8 = Buffer.from('κόσμε — 🎈')
const bytes = (...all: number[]) => Uint8Array.from(all)
const opcode = (number: number): Frame => ({ opcode: number })
const echoOf = (payload: string | Uint8Array) => `echo ${Buffer.from(payload as string).length}`

const lengths = [0, 1, 125, 126, 127, 128, 65_535, 65_536].flatMap((length): Vector[] => [
  { name: `a text of ${length} bytes`, frames: [text('*'.repeat(length))], outcome: [`echo ${length}`] },
  { name: `${length} bytes`, frames: [binary(new Uint8Array(length).fill(254))], outcome: [`echo ${length}`] },
])

const control: Vector[] = [
  { name: 'a ping', frames: [ping('are you there')], outcome: ['pong are you there'] },
  { name: 'a ping of 125 bytes', frames: [ping('p'.repeat(125))], outcome: [`pong ${'p'.repeat(125)}`] },
  { name: 'a ping of 126 bytes', frames: [ping('p'.repeat(126))], outcome: [1002] },
  { name: 'a pong that no one asked for', frames: [pong('here'), ping('x')], outcome: ['pong x'] },
  {
    name: 'ten pings',
    frames: Array.from({ length: 10 }, (_, i) => ping(String(i))),
    outcome: Array.from({ length: 10 }, (_, i) => `pong ${i}`),
  },
  { name: 'a ping in two frames', frames: [{ ...ping('x'), fin: false }, more('y')], outcome: [1002] },
]

const reserved: Vector[] = [
  ...[1, 2, 4, 7].map(
    (bits): Vector => ({ name: `reserved bits ${bits}`, frames: [text('x', { reserved: bits })], outcome: [1002] }),
  ),
  ...[3, 7, 11, 15].map(
    (number): Vector => ({ name: `the reserved opcode ${number}`, frames: [opcode(number)], outcome: [1002] }),
  ),
  { name: 'a frame that is not masked', frames: [text('x', { masked: false })], outcome: [1002] },
]

const fragments: Vector[] = [
  { name: 'a text in two frames', frames: [text('one', { fin: false }), more('two')], outcome: ['echo 6'] },
  {
    name: 'a text in frames of one byte',
    frames: [text('h', { fin: false }), ...['e', 'l', 'l'].map((one) => more(one, false)), more('o')],
    outcome: ['echo 5'],
  },
  {
    name: 'a ping between two frames',
    frames: [text('one', { fin: false }), ping('!'), more('two')],
    outcome: ['pong !', 'echo 6'],
  },
  { name: 'an empty text in two frames', frames: [text('', { fin: false }), more('')], outcome: ['echo 0'] },
  { name: 'a continuation of nothing', frames: [more('x')], outcome: [1002] },
  { name: 'a text within a text', frames: [text('one', { fin: false }), text('two')], outcome: [1002] },
]

const wrongUtf8: readonly (readonly [string, Uint8Array])[] = [
  ['a surrogate', bytes(0xed, 0xa0, 0x80)],
  ['an overlong form', bytes(0xc0, 0xaf)],
  ['more than U+10FFFF', bytes(0xf4, 0x90, 0x80, 0x80)],
  ['a character that breaks off', bytes(0xce)],
  ['a byte that stands alone', bytes(0x80)],
  ['0xFF', bytes(0x68, 0xff)],
]
const encoding: Vector[] = [
  { name: 'UTF-8', frames: [text(utf8)], outcome: [echoOf(utf8)] },
  {
    name: 'UTF-8 that is cut within a character',
    frames: [text(utf8.subarray(0, 3), { fin: false }), more(utf8.subarray(3))],
    outcome: [echoOf(utf8)],
  },
  ...wrongUtf8.map(
    ([name, payload]): Vector => ({ name: `text with ${name}`, frames: [text(payload)], outcome: [1007] }),
  ),
  {
    name: 'wrong UTF-8 in the second frame',
    frames: [text('fine', { fin: false }), more(bytes(0xff))],
    outcome: [1007],
  },
]

const closing: Vector[] = [
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999].map(
    (code): Vector => ({ name: `a close with ${code}`, frames: [close(code, 'bye')], outcome: [code] }),
  ),
  { name: 'a close without a code', frames: [close()], outcome: [1005] },
  { name: 'a text after a close', frames: [close(1000), text('late')], outcome: [1000] },
  ...[0, 999, 1004, 1005, 1006, 1016, 1100, 2999, 5000, 65_535].map(
    (code): Vector => ({ name: `a close with ${code}, which is not a code`, frames: [close(code)], outcome: [1002] }),
  ),
  { name: 'a close of one byte', frames: [{ opcode: opcodes.close, payload: bytes(3) }], outcome: [1002] },
  {
    name: 'a close of 126 bytes',
    frames: [{ opcode: opcodes.close, payload: Buffer.concat([bytes(3, 232), Buffer.alloc(124, 'x')]) }],
    outcome: [1002],
  },
  { name: 'a close with wrong UTF-8', frames: [close(1000, bytes(0xff))], outcome: [1007] },
]

const sizes: Vector[] = [
  { name: 'a message of the largest size', frames: [binary(new Uint8Array(1024 * 1024))], outcome: ['echo 1048576'] },
  { name: 'a message that is too long', frames: [binary(new Uint8Array(1024 * 1024 + 1))], outcome: [1009] },
  {
    name: 'frames that are too long together',
    frames: [binary(new Uint8Array(800_000), { fin: false }), more(new Uint8Array(300_000))],
    outcome: [1009],
  },
  { name: 'a length of 2^62', frames: [binary(new Uint8Array(10), { length: 2 ** 62 })], outcome: [1009] },
]

export const vectors: readonly Vector[] = [
  ...lengths,
  ...control,
  ...reserved,
  ...fragments,
  ...encoding,
  ...closing,
  ...sizes,
]

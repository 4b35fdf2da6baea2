import { Command, type CommandDefinition, type CommandInput, defineCommand, type Logger, Server } from 'framework'
import type { Equal, Expect } from './expect.ts'

// A class: its declarations are the arguments of `run`.
class Greet extends Command {
  readonly name = 'greet'
  readonly description = 'Greets someone'
  override readonly arguments = [{ name: 'who', required: true }, { name: 'and' }] as const
  override readonly flags = {
    loud: { type: 'boolean', short: 'l' },
    out: { type: 'string' },
    language: { type: 'string', default: 'en' },
    limit: { type: 'number' },
    times: { type: 'number', default: 1 },
  } as const

  run({ arguments: given, flags, print, note, boot }: CommandInput<this>) {
    const texts: readonly [string, string | undefined] = [given.who, given.and]
    const certain: readonly [boolean, string, number] = [flags.loud, flags.language, flags.times]
    print(`${texts} ${certain} ${flags.out?.length} ${flags.limit?.toFixed()}`)
    note(given.who.toUpperCase())
    // @ts-expect-error may be left out
    given.and.length
    // @ts-expect-error no such argument
    given.whom
    // @ts-expect-error no such flag
    flags.quiet
    // @ts-expect-error has no default
    flags.limit.toFixed()
    type _logger = Expect<Equal<typeof this.logger, Logger>>
    return boot().then(({ plugins }) => plugins.children.length)
  }
}
const greet: CommandDefinition = new Greet()
void greet

class Bare extends Command {
  readonly name = 'bare'
  readonly description = 'Takes nothing'
  run({ arguments: given, flags, print }: CommandInput<this>) {
    // @ts-expect-error declares none
    given.who
    // @ts-expect-error declares none
    flags.loud
    print('')
  }
}
void Bare

// @ts-expect-error a command has a name
class Nameless extends Command {
  readonly description = 'x'
  run() {}
}
void Nameless

class Untyped extends Command {
  readonly name = 'x'
  readonly description = 'x'
  // @ts-expect-error not as const: the type is any text
  override readonly flags = { loud: { type: 'boolean' } }
  run() {}
}
void Untyped

// The same inference for data, without as const.
const count = defineCommand({
  name: 'count',
  description: 'Counts',
  arguments: [{ name: 'what', required: true }, { name: 'where' }],
  flags: { all: { type: 'boolean' }, from: { type: 'number', default: 0 }, to: { type: 'number' } },
  async run({ arguments: given, flags, boot }) {
    type _given = Expect<Equal<typeof given, { readonly what: string; readonly where: string | undefined }>>
    type _flags = Expect<
      Equal<typeof flags, { readonly all: boolean; readonly from: number; readonly to: number | undefined }>
    >
    const server = new Server({ plugins: [] })
    const booted = await boot(server)
    type _booted = Expect<Equal<typeof booted, typeof server>>
    return flags.from
  },
})
type _count = Expect<Equal<typeof count, CommandDefinition>>
defineCommand({
  name: 'join',
  description: 'Joins files',
  arguments: [
    { name: 'out', required: true },
    { name: 'files', variadic: true },
  ],
  run({ arguments: { files } }) {
    type _files = Expect<Equal<typeof files, readonly string[]>>
  },
})
defineCommand({
  name: 'remove',
  description: 'Removes files',
  arguments: [{ name: 'files', required: true, variadic: true }],
  run({ arguments: { files } }) {
    type _files = Expect<Equal<typeof files, readonly [string, ...string[]]>>
  },
})
defineCommand({
  name: 'label',
  description: 'Labels',
  flags: { tag: { type: 'string', multiple: true } },
  run({ flags: { tag } }) {
    type _tag = Expect<Equal<typeof tag, readonly string[]>>
  },
})
// @ts-expect-error a default of another type
defineCommand({ name: 'x', description: 'x', flags: { times: { type: 'number', default: '1' } }, run() {} })
// @ts-expect-error no exit code
defineCommand({ name: 'x', description: 'x', run: () => 'done' })
defineCommand({ name: 'x', description: 'x', run: async () => 1 })

// Plain data stays possible, with everything that may be there.
const plain: CommandDefinition = {
  name: 'plain',
  description: 'x',
  arguments: [{ name: 'a', required: true }],
  flags: { b: { type: 'number', default: 1 } },
  run({ arguments: { a }, flags: { b } }) {
    type _a = Expect<Equal<typeof a, string | readonly string[] | undefined>>
    type _b = Expect<Equal<typeof b, string | number | boolean | readonly string[] | undefined>>
  },
}
void plain

import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kernel } from '../../kernel/index.ts'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import { programName } from '../package.ts'
import { shellWord } from '../printable.ts'
import { commandLineOf, findProject, projectRoot, typedPath } from '../project/project.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'
import type { ApiDocument } from '../sdk/document.ts'
import { fetchDescriptions } from '../sdk/fetch-descriptions.ts'
import { generateClient, isGenerated, operationsBelow, reservedNames, wordsOf } from '../sdk/generate.ts'
import { type MessageDocument, socketsOf } from '../sdk/messages.ts'
import { hasPart, treeOf } from '../sdk/tree.ts'
import { replaceFile, textOf } from '../text-file.ts'

export const generateSdk = ownCommand({
  details: `Imports the module that exports the server, without booting it, and writes one TypeScript file that needs only fetch, and
WebSocket if the server has websockets. The client includes the controllers of controllerPatterns and, with --boot, the routes that
plugins register in their setup. With --url, the command reads the descriptions of a running server instead.`,
  flags: {
    ...applicationFlags,
    out: text('file', 'The file to write (default src/sdk.ts, or sdk.ts without src/)', { short: 'o' }),
    name: text('name', 'The name of the client type', { default: 'Client' }),
    url: text('address', 'Reads the descriptions of this running server instead of a module'),
    openapi: text('path', 'The path of the OpenAPI description on that server (default /docs/json)'),
    asyncapi: text('path', 'The path of the AsyncAPI description on that server (default /asyncapi.json)'),
    boot: onOff('Boots the server to include the routes of its plugins, and closes it again'),
    check: onOff('Writes nothing; exits with 1 if the file is not what the command in its first line would write now'),
    'dry-run': onOff('Writes to standard output instead of the file'),
    force: onOff('Overwrites a file that this command did not write', { short: 'f' }),
  },
  async run(input) {
    const { print, note } = input
    const typed = given(input.flags.out)
    const sources = statSync('src', { throwIfNoEntry: false })?.isDirectory() ? 'src/' : ''
    const out = typed === undefined ? `${sources}sdk.ts` : typedPath(typed)
    const before = textOf(out)
    const flags = input.flags.check ? asWritten(input.flags, before ?? '') : input.flags
    const name = given(flags.name) ?? 'Client'
    if (!/^[A-Z][A-Za-z0-9]*$/.test(name) || reservedNames.includes(name))
      throw wrongUsage(`--name takes a new type name (a capital letter, then ASCII letters and digits), not "${name}"`)
    const found = await descriptionsOf(flags, input)
    const { client, count, opening } = clientOf(found, { name, command: commandLine(flags) })
    const partial = [...new Set([...Object.keys(found.document.paths ?? {}), ...opening])].filter(hasPart)
    const sockets = opening.filter((path) => !hasPart(path)).length
    const opened = sockets === 0 ? '' : ` and ${sockets} ${sockets === 1 ? 'websocket' : 'websockets'}`
    const calls = `${count} ${count === 1 ? 'route' : 'routes'}${opened} of ${found.from}`
    if (partial.length > 0) note(`Left out, because a parameter is only a part of its segment: ${partial.join(', ')}`)
    if (count + sockets === 0) note(`${found.from} has no routes: do its modules import those that register them?`)
    if (flags['dry-run']) {
      print(client.trimEnd())
      return 0
    }
    const isSame = before !== undefined && lines(before) === lines(client)
    if (flags.check) return isSame ? 0 : refuse(out, before, flags)
    // An unchanged file keeps its date, and does not trigger watchers.
    if (!isSame) write(out, before, client, flags.force)
    note(`${out}: ${calls}${isSame ? ', unchanged' : ''}`)
    return 0
  },
})

const given = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** Both descriptions of a server, and its address; those of a running server may have any content. */
async function descriptionsOf(
  flags: CommandInput['flags'] & Parameters<typeof applicationOf>[0],
  input: Pick<CommandInput, 'boot' | 'note'>,
) {
  const url = given(flags.url)
  if (url === undefined) {
    const alone = ['openapi', 'asyncapi'].find((flag) => given(flags[flag]) !== undefined)
    if (alone !== undefined) throw wrongUsage(`--${alone} needs --url, the address of the server`)
    const { server, entry } = await applicationOf(flags)
    const described = await describe(server, flags.boot ? input.boot : undefined, input.note)
    return { ...described, from: entry, isForeign: false }
  }
  const other = ['entry', 'export', 'boot'].find((flag) => flags[flag] !== undefined && flags[flag] !== false)
  if (other !== undefined)
    throw wrongUsage(`--${other} is for a module, and --url for a running server: pass one of them`)
  const asked = { url, openapi: given(flags.openapi), asyncapi: given(flags.asyncapi) }
  return { ...(await fetchDescriptions(asked, input.note)), from: url, isForeign: true }
}

/** Writes the client. @throws CommandFailure for an invalid description of a running server, of any framework. */
function clientOf(
  { document, messages, from, isForeign }: Awaited<ReturnType<typeof descriptionsOf>>,
  options: { readonly name: string; readonly command: string },
) {
  try {
    return {
      client: generateClient(document, { ...options, ...(messages && { messages }) }),
      count: operationsBelow(treeOf(document)).length,
      opening: socketsOf(document, messages).routes.map(({ path }) => path),
    }
  } catch (error) {
    if (!isForeign) throw error
    throw new CommandFailure(
      `the descriptions of ${from} are not valid, so no client can be generated: ${(error as Error).message}. A validator for OpenAPI or AsyncAPI shows where`,
      error,
    )
  }
}

async function describe(
  server: Kernel,
  boot: CommandInput['boot'] | undefined,
  note: CommandInput['note'],
): ReturnType<typeof fetchDescriptions> {
  const [{ describeServer }, { describeMessages }] = await Promise.all([
    import('../../plugins/openapi/index.ts'),
    import('../../plugins/asyncapi/index.ts'),
  ])
  if (boot === undefined) {
    const controllers = server.services.get('controllers')
    await controllers.load(controllers.patterns, server.router, server.logger)
    note('Not booted: routes that plugins register in their setup are not included (use --boot).')
  } else await boot(server)
  // The same data: here with the keywords of schemas by name.
  return {
    document: describeServer(server, optionsOf(server, 'openapi', ['info', 'include', 'components'])) as ApiDocument,
    messages: describeMessages(server, optionsOf(server, 'asyncapi', ['include', 'components'])) as MessageDocument,
  }
}

/** The application's options for a plugin that describes it, which also apply to its client. */
function optionsOf(server: Kernel, plugin: 'openapi' | 'asyncapi', members: readonly string[]): object {
  const listed = server.listing.plugins.find(({ definition }) => definition.name === plugin)
  const given = Object.entries(listed?.options ?? {})
  return Object.fromEntries(given.filter(([name, value]) => members.includes(name) && value))
}

/** The flags that the file was written with, unless others are typed: when CI checks a file, no one repeats them. */
function asWritten<Flags extends CommandInput['flags']>(flags: Flags, file: string): Flags {
  const words = wordsOf(file)
  // Those that determine the contents of the client; `out` is only its place.
  const typed = (['entry', 'export', 'url', 'openapi', 'asyncapi', 'name'] as const).flatMap((flag) => {
    const value = words[words.indexOf(`--${flag}`) + 1]
    const isTyped = given(flags[flag]) !== undefined && !(flag === 'name' && flags.name === 'Client')
    return isTyped || value === undefined || !words.includes(`--${flag}`) ? [] : [[flag, value] as const]
  })
  return { ...flags, ...Object.fromEntries(typed), boot: flags.boot === true || words.includes('--boot') }
}

/** The typed command, without the options that concern only this run. */
function commandLine(flags: CommandInput['flags'], program = programName): string {
  const words = ['entry', 'export', 'url', 'openapi', 'asyncapi', 'out', 'name'].flatMap((flag) => {
    const value = given(flags[flag])
    return value === undefined || (flag === 'name' && value === 'Client') ? [] : [`--${flag}`, shellWord(value)]
  })
  return [`${program} generate-sdk`, ...words, ...(flags.boot ? ['--boot'] : [])].join(' ')
}

/** A file for comparison: a checkout with CRLF, or a formatter that changed the end of the file, counts as unchanged. */
const lines = (file: string) => file.replaceAll('\r\n', '\n').trimEnd()

function refuse(out: string, before: string | undefined, flags: CommandInput['flags']): never {
  const program = projectRoot(process.cwd()) === undefined ? programName : commandLineOf(findProject().packageManager)
  const command = commandLine(flags, program)
  throw new CommandFailure(`${out} is ${before === undefined ? 'missing' : 'not up to date'}: run ${command}`)
}

function write(out: string, before: string | undefined, client: string, force: boolean): void {
  if (before !== undefined && !isGenerated(before) && !force) {
    throw new CommandFailure(
      `${out} was not written by this command: --force overwrites it, --out chooses another file`,
    )
  }
  // The target of a link is replaced, not the link.
  const replace = () => replaceFile(before === undefined ? resolve(out) : realpathSync(out), client)
  orFail(replace, (why) => new CommandFailure(`${out} cannot be written: ${why}`))
}

import { existsSync } from 'node:fs'
import { dataChanges, dataOf } from '../access/data.ts'
import { isGuard, readFact } from '../access/facts.ts'
import {
  type Difference,
  differencesOf,
  type FiledWay,
  type FileKind,
  fileOf,
  ofData,
  ofWays,
  readFile,
  writing,
} from '../access/file.ts'
import { lookOnly } from '../access/look.ts'
import { type WayIn, waysOf } from '../access/ways.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'
import { replaceFile, textOf } from '../text-file.ts'

/** The exit code for a file that is old, but nothing became reachable by more people. */
const isOld = 3

export const access = ownCommand({
  details: `Imports the module that exports the server and sets up only the plugins that add routes: it connects to no service and
does not listen. With --check, the exit code is 1 if more people can reach something than the file says, and ${isOld} if the file is merely out of
date. With --check and --data, it is 1 if a member has lost its mark, or if the application sends a secret that the file does not name.`,
  arguments: [
    {
      name: 'file',
      description:
        'The file to compare or write (default access.txt, or access.json if only that exists; access-data.txt or .json with --data)',
    },
  ],
  flags: {
    ...applicationFlags,
    check: onOff('Compares the application with the file and writes nothing'),
    write: onOff('Writes the file'),
    out: text('file', 'Writes this file instead of the default', { short: 'o' }),
    data: onOff('Lists where sensitive and secret members (marked in schemas) can flow, not who can reach what'),
    json: onOff('Prints JSON, with the place where each is declared'),
  },
  async run({ arguments: given, flags, print, note, boot }) {
    const isWriting = flags.write || flags.out !== undefined
    if ([flags.check, isWriting, flags.json].filter(Boolean).length > 1)
      throw wrongUsage('access: --check compares the file, --write or --out writes it, --json prints: pass one of them')
    if (flags.out !== undefined && given.file)
      throw wrongUsage(`access ${given.file}: --out ${flags.out} names another file: pass one of them`)
    const named = flags.out ?? given.file
    if (named && !flags.check && !isWriting) throw wrongUsage(`access ${named}: pass --check or --write as well`)
    const kind = flags.data ? ofData : ofWays
    const both = kind.names.filter((one) => existsSync(one))
    // The reviewers of one would not see what the other allows.
    if (!named && both.length === 2 && (flags.check || isWriting))
      throw new CommandFailure(`${kind.names[1]} and ${kind.names[0]} both exist: name one of them, or remove it`)
    const file = named ? typedPath(named) : (both[0] ?? kind.names[0])
    const { server, entry } = await applicationOf(flags, { mayListen: false })
    const unseen = server.hasBegun ? new Map<string, string>() : lookOnly(server)
    await boot(server)
    const data = flags.data ? dataOf(server, note) : undefined
    const ways = data?.rows ?? waysOf(server, unseen)
    const summary = data === undefined ? summaryOf(ways) : `${ways.length} marked members`
    if (data !== undefined) for (const [name, why] of unseen) note(`routes of the plugin ${name} are not seen: ${why}`)
    for (const { way, why } of ways)
      if (why !== undefined) note(`${way} is not seen: ${why}. Its definition can say what it adds: access`)
    if (flags.check) {
      const changes = (filed: readonly FiledWay[]) =>
        data === undefined ? differencesOf(filed, ways) : dataChanges(filed, data)
      return check(file, kind, { rows: ways.length, changes }, print, note)
    }
    if (isWriting) {
      replaceFile(file, fileOf(ways, file, kind))
      note(`${file}: ${summary}`)
    } else if (flags.json) print(JSON.stringify(ways, undefined, 2))
    else {
      const table =
        data === undefined
          ? [['Way in', 'Credential', 'Policies and conditions', 'Not visible', 'By, at'], ...ways.map(rowOf)]
          : [['Member', 'Mark', 'By, at'], ...ways.map((one) => [one.way, one.facts.join(', '), whereOf(one)])]
      printTable(table, print)
      note(`${entry}: ${summary}`)
    }
    return 0
  },
})

/** Compares the rows with the file, and says what has changed. */
function check(
  file: string,
  kind: FileKind,
  { rows, changes }: { readonly rows: number; readonly changes: (filed: readonly FiledWay[]) => readonly Difference[] },
  print: (line: string) => void,
  note: (line: string) => void,
): number {
  const before = textOf(file)
  const again = `run ${writing(file, kind)}`
  if (before === undefined) throw new CommandFailure(`${file} is missing: ${again}, review it and commit it`)
  const all = changes(readFile(before, file, kind))
  const wider = all.filter(({ isWider }) => isWider)
  const shown = [...wider, ...all.filter(({ isWider }) => !isWider)]
  const [word, sentence] = kind.worse
  printTable(
    shown.map(({ way, from, to, at, isWider }) => [isWider ? word : 'changed', way, `${from} → ${to}`, at]),
    print,
  )
  if (wider.length > 0) note(`${sentence} ${file} says. If that is intended, ${again} and have the file reviewed`)
  else if (all.length > 0) note(`${kind.holds}, but ${file} is old: ${again}`)
  else note(`${rows} ${kind.rows}, as in ${file}`)
  return wider.length > 0 ? 1 : all.length > 0 ? isOld : 0
}

const isHidden = (fact: string) => /^(?:own|plugin|option|not seen)\b/.test(fact)

function rowOf({ way, facts, by, at }: WayIn): string[] {
  const read = facts.map(readFact)
  const texts = (is: (fact: (typeof read)[number]) => boolean) =>
    read
      .filter(is)
      .map((fact) => fact.text)
      .join(', ')
  const isCredential = ({ name, credential }: (typeof read)[number]) =>
    credential !== undefined || name.startsWith('scope ')
  return [
    way,
    texts(isCredential) || '-',
    texts((one) => !isCredential(one) && !isHidden(one.text)) || '-',
    texts((one) => isHidden(one.text)) || '-',
    whereOf({ by, at }),
  ]
}

const whereOf = ({ by, at }: Pick<WayIn, 'by' | 'at'>) =>
  [by === 'application' ? '' : by, at].filter(Boolean).join(', ')

function summaryOf(ways: readonly WayIn[]): string {
  const guarded = ways.filter(({ facts }) => facts.map(readFact).some(isGuard)).length
  const hidden = ways.filter(({ facts }) => !facts.map(readFact).some(isGuard) && facts.some(isHidden)).length
  return `${ways.length} ways in: ${guarded} guarded, ${hidden} only by what cannot be seen here, ${ways.length - guarded - hidden} open`
}

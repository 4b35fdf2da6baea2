import { existsSync } from 'node:fs'
import { isGuard, readFact } from '../access/facts.ts'
import { differencesOf, fileOf, readFile, writing } from '../access/file.ts'
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
  details: `Imports the module that exports the server and runs only the setups of plugins that add routes: no service is opened, and nothing
listens. With --check, the exit code is 1 if something can be reached by more people than the file says, and ${isOld} if the file is only old.`,
  arguments: [
    {
      name: 'file',
      description: 'The file to compare or write (default access.txt, or access.json if only that exists)',
    },
  ],
  flags: {
    ...applicationFlags,
    check: onOff('Compares the application with the file, and writes nothing'),
    write: onOff('Writes the file'),
    out: text('file', 'Writes this file', { short: 'o' }),
    json: onOff('As JSON, with the place where each is declared'),
  },
  async run({ arguments: given, flags, print, note, boot }) {
    const isWriting = flags.write || flags.out !== undefined
    if ([flags.check, isWriting, flags.json].filter(Boolean).length > 1)
      throw wrongUsage('access: --check compares the file, --write or --out writes it, --json prints: pass one of them')
    if (flags.out !== undefined && given.file)
      throw wrongUsage(`access ${given.file}: --out ${flags.out} names another file: pass one of them`)
    const named = flags.out ?? given.file
    if (named && !flags.check && !isWriting) throw wrongUsage(`access ${named}: pass --check or --write as well`)
    const both = ['access.json', 'access.txt'].filter((one) => existsSync(one))
    // The reviewers of one would not see what the other allows.
    if (!named && both.length === 2 && (flags.check || isWriting))
      throw new CommandFailure('access.json and access.txt both exist: name one of them, or remove it')
    const file = named ? typedPath(named) : (both[0] ?? 'access.txt')
    const { server, entry } = await applicationOf(flags, { mayListen: false })
    const unseen = server.hasBegun ? new Map<string, string>() : lookOnly(server)
    await boot(server)
    const ways = waysOf(server, unseen)
    for (const { way, why } of ways)
      if (why !== undefined) note(`${way} is not seen: ${why}. Its definition can say what it adds: access`)
    if (flags.check) return check(file, ways, print, note)
    if (isWriting) {
      replaceFile(file, fileOf(ways, file))
      note(`${file}: ${summaryOf(ways)}`)
    } else if (flags.json) print(JSON.stringify(ways, undefined, 2))
    else {
      printTable(
        [['Way in', 'Credential', 'Policies and conditions', 'Not visible', 'By, at'], ...ways.map(rowOf)],
        print,
      )
      note(`${entry}: ${summaryOf(ways)}`)
    }
    return 0
  },
})

function check(
  file: string,
  ways: readonly WayIn[],
  print: (line: string) => void,
  note: (line: string) => void,
): number {
  const before = textOf(file)
  const again = `run ${writing(file)}`
  if (before === undefined)
    throw new CommandFailure(`${file} is missing, so nothing is decided yet: ${again}, review it and commit it`)
  const all = differencesOf(readFile(before, file), ways)
  const wider = all.filter(({ isWider }) => isWider)
  const shown = [...wider, ...all.filter(({ isWider }) => !isWider)]
  printTable(
    shown.map(({ way, from, to, at, isWider }) => [isWider ? 'wider' : 'changed', way, `${from} → ${to}`, at]),
    print,
  )
  if (wider.length > 0)
    note(
      `${wider.length} changes let more people in than ${file} says. If that is intended, ${again} and have the file reviewed`,
    )
  else if (all.length > 0) note(`nothing that can be seen lets more people in, but ${file} is old: ${again}`)
  else note(`${ways.length} ways in, as in ${file}`)
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
    [by === 'application' ? '' : by, at].filter(Boolean).join(', '),
  ]
}

function summaryOf(ways: readonly WayIn[]): string {
  const guarded = ways.filter(({ facts }) => facts.map(readFact).some(isGuard)).length
  const hidden = ways.filter(({ facts }) => !facts.map(readFact).some(isGuard) && facts.some(isHidden)).length
  return `${ways.length} ways in: ${guarded} guarded, ${hidden} only by what cannot be seen here, ${ways.length - guarded - hidden} open`
}

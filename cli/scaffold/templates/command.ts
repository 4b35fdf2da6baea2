import { packageName } from '../../package.ts'
import { commandLineOf } from '../../project/project.ts'
import type { Names } from '../names.ts'
import { inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports } from '../source.ts'

/** A command of the application. */
export function command(place: Place, { kebab, pascal }: Names): Scaffold {
  const name = `${pascal}Command`
  const line = commandLineOf(place.project.packageManager)
  return {
    files: [
      { path: inFolder(place, `${kebab}.ts`), text: source(kebab, name) },
      { path: inFolder(place, `${kebab}.test.ts`), text: test(place.testModule, kebab, name) },
    ],
    next: [`Try it: ${line} ${kebab} world --loud; "${line} list" shows it.`],
  }
}

const source = (kebab: string, name: string) => `import { Command, type CommandInput } from '${packageName}'

export class ${name} extends Command {
  readonly name = '${kebab}'
  readonly description = 'Greets someone'
  override readonly arguments = [{ name: 'who', description: 'Who is greeted', required: true }] as const
  override readonly flags = {
    loud: { type: 'boolean', short: 'l', description: 'In capitals' },
  } as const

  /** \`print\` is for the result, \`note\` for messages about it. A returned number is the exit code. */
  async run({ arguments: { who }, flags, print }: CommandInput<this>): Promise<void> {
    const greeting = \`Hello \${who}\`
    print(flags.loud ? greeting.toUpperCase() : greeting)
  }
}
`

const test = (module: string, kebab: string, name: string) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [`./${kebab}.ts`, `{ ${name} }`],
)}

test('${kebab} greets', async () => {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const boot = () => Promise.reject(new Error('it needs no server'))
  const command = new ${name}()
  await command.run({ arguments: { who: 'Ada' }, flags: { loud: false }, print, note: print, boot })
  await command.run({ arguments: { who: 'Ada' }, flags: { loud: true }, print, note: print, boot })

  assert.deepEqual(lines, ['Hello Ada', 'HELLO ADA'])
})
`

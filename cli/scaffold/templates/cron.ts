import { packageName } from '../../package.ts'
import type { Names } from '../names.ts'
import { decoratorNotes, globOf, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, imports, literal } from '../source.ts'

export interface CronSettings {
  readonly pattern: string
  readonly timezone: string | undefined
  /** Whether it is a method of a class. */
  readonly asClass: boolean
}

/** A scheduled job. */
export function cron(place: Place, { kebab, camel, pascal }: Names, settings: CronSettings): Scaffold {
  const { pattern, timezone, asClass } = settings
  const zone = timezone === undefined ? '' : `, timezone: ${literal(timezone)}`
  const declaration = `cron(${literal(pattern)}, { name: '${kebab}'${zone} })`
  const name = identifier(camel, 'Cron')
  const isDefault = place.folder === 'src/crons'
  return {
    files: [
      {
        path: inFolder(place, `${kebab}.ts`),
        text: asClass ? classForm(declaration, `${pascal}Cron`) : functionalForm(declaration, name),
      },
      { path: inFolder(place, `${kebab}.test.ts`), text: test(place.testModule, kebab, `${pascal}Cron`, asClass) },
    ],
    packages: ['node-schedule'],
    next: [
      `In ${place.server}, unless it is there already; the files of the folder are loaded when the server listens:`,
      isDefault
        ? `  new Server({ plugins: { cron: true } })`
        : `  new Server({ plugins: { cron: { crons: ['${globOf(place)}'] } } })`,
      ...(asClass ? decoratorNotes(place) : []),
    ],
  }
}

const functionalForm = (declaration: string, name: string) => `import { type CronRun, cron } from '${packageName}'

export const ${name} = ${declaration}

/** Errors are logged. \`signal\` aborts when the server closes. */
export async function run({ scheduledAt, signal, logger }: CronRun): Promise<void> {
  if (!signal.aborted) logger.info({ scheduledAt }, 'at work')
}

await ${name}.start(run)
`

const classForm = (declaration: string, name: string) => `import { BaseCron, type CronRun, cron } from '${packageName}'

/** One instance is made when the server listens. */
export class ${name} extends BaseCron {
  /** Errors are logged. \`signal\` aborts when the server closes. */
  @${declaration}
  async run({ scheduledAt, signal }: CronRun): Promise<void> {
    if (!signal.aborted) this.logger.info({ scheduledAt }, 'at work')
  }
}
`

const test = (module: string, kebab: string, className: string, asClass: boolean) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ CronService, memoryClock }'],
  asClass ? [`./${kebab}.ts`, `{ ${className} }`] : [`./${kebab}.ts`],
)}

test('${kebab} runs at its time', async () => {
  const clock = memoryClock('2026-01-01T00:00:00Z')
  const service = await CronService.run({ crons: [${asClass ? className : ''}], clock })
  const next = service.jobs().find(({ name }) => name === '${kebab}')?.next
  assert(next, 'it has no next time')
  await clock.advanceTo(next)

  const runs = service.jobs().find(({ name }) => name === '${kebab}')?.runs
  assert.deepEqual(
    runs?.map(({ outcome, scheduledAt }) => ({ outcome, scheduledAt })),
    [{ outcome: 'ok', scheduledAt: next }],
  )
  await service.stop()
})
`

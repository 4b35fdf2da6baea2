import { join } from 'node:path'
import { entriesOf } from '../../keys/env-file.ts'
import { gitIgnores } from '../../keys/ignored.ts'
import { textOf, withLines } from '../../text-file.ts'
import type { ScaffoldFile } from '../files.ts'
import { ignoring } from '../ignore.ts'
import type { Place } from '../place.ts'
import { declaration, envModule, withDeclarations } from './schema-text.ts'
import type { Variable } from './variables.ts'

/**
 * Adds each variable once to `src/env.ts`, `.env`, `.env.example` and, if it is required, `.env.test`; existing ones stay.
 * A file that is also among the other files includes their text, and replaces theirs.
 */
export function environmentFiles(place: Place, variables: readonly Variable[], others: readonly ScaffoldFile[]) {
  if (variables.length === 0) return { files: [], notes: [], hasSecret: false }
  const before = (path: string) =>
    others.find((one) => one.path === path)?.text ?? textOf(join(place.project.root, path))
  const [module, ...shared] = sharedTexts(place, variables, before)
  const own = before('.env')
  const text = withVariables(own ?? ownNote, variables, ({ value }) => value)
  const hasSecret =
    text !== undefined && text !== own && variables.some(({ value = '', example }) => value !== '' && value !== example)
  // A project without .env may not have a line for it, either.
  const isIgnoring = own === undefined || (hasSecret && gitIgnores(place.project.root, '.env') !== true)
  const texts: readonly Planned[] = [
    module!,
    { path: '.env', text, mode: 0o600 },
    ...shared,
    ...(isIgnoring ? [{ path: '.gitignore', text: ignoring(before('.gitignore') ?? '', secretFiles) }] : []),
  ]
  return { ...changed(place, variables, texts, before), hasSecret }
}

/** The same if `.env` already has the values, and only for existing files: a project without them reads variables in its own way. */
export function declaringFiles(place: Place, variables: readonly Variable[]) {
  const before = (path: string) => textOf(join(place.project.root, path))
  const texts = sharedTexts(place, variables, before).filter(({ path }) => before(path) !== undefined)
  return changed(place, variables, texts, before)
}

/** The planned content of a file; `undefined` if nothing can be added to the existing text. */
type Planned = Omit<ScaffoldFile, 'text'> & { readonly text: string | undefined }
type Before = (path: string) => string | undefined

const neededOf = (variables: readonly Variable[]) => variables.filter(({ value }) => value !== undefined)

/** The committed files: the module first. */
function sharedTexts({ env }: Place, variables: readonly Variable[], before: Before): readonly Planned[] {
  const example = (variable: Variable) => (variable.value === undefined ? undefined : variable.example)
  const ofTests = ({ test, value }: Variable) => test ?? value
  const module = before(env)
  const lines = variables.map((one) => declaration(one))
  return [
    { path: env, text: module === undefined ? envModule(lines) : withDeclarations(module, variables) },
    { path: '.env.example', text: withVariables(before('.env.example') ?? exampleNote, variables, example) },
    { path: '.env.test', text: withVariables(before('.env.test') ?? '', neededOf(variables), ofTests, false) },
  ]
}

/** The files that change, and the lines to add by hand to those whose form does not allow adding them automatically. */
function changed({ env }: Place, variables: readonly Variable[], texts: readonly Planned[], before: Before) {
  const linesFor = (path: string) =>
    path === env ? variables.map((one) => declaration(one)) : neededOf(variables).map(({ name }) => name)
  return {
    files: texts.flatMap(({ text, ...file }): ScaffoldFile[] =>
      text === undefined || text === (before(file.path) ?? '') ? [] : [{ ...file, text, existing: 'update' }],
    ),
    notes: texts.flatMap(({ path, text }) =>
      text === undefined
        ? [
            `${path} has its own form. The written code reads these variables from it:`,
            ...linesFor(path).map((line) => `  ${line}`),
          ]
        : [],
    ),
  }
}

const secretFiles = ['.env', '.env.local', '.env.*.local']
const ownNote = '# Git leaves this file out. The environment of the process takes precedence.\n'
const exampleNote = '# A template of .env for people who clone this: copy it to .env.\n'

/** The text with a line for each missing variable; `undefined` for a text in JSON. */
function withVariables(
  text: string,
  variables: readonly Variable[],
  valueIn: (variable: Variable) => string | undefined,
  explains = true,
): string | undefined {
  if (/^\s*[[{]/.test(text)) return undefined
  const names = entriesOf(text).map(({ name }) => name)
  const inComments = [...text.matchAll(/^\s*#\s*(?:export\s+)?([\w.-]+)\s*=/gm)].map(([, name]) => name)
  // For an optional variable, a comment is enough.
  const there = (variable: Variable) => (valueIn(variable) === undefined ? [...names, ...inComments] : names)
  const lines = variables
    .filter((variable) => !there(variable).includes(variable.name))
    .flatMap((variable) => {
      const value = valueIn(variable)
      const about = explains && variable.about !== undefined ? [`# ${variable.about}`] : []
      const entry = value === undefined ? `# ${variable.name}=${variable.example}` : `${variable.name}=${value}`
      return [...about, entry]
    })
  return withLines(text, lines)
}

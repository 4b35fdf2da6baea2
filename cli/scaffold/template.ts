import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith, packageName, programName } from '../package.ts'

/** The values for the holes of a template. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

const folder = 'cli/scaffold/templates'

/** The text of a template, with these values and the name of this package in its holes. */
export function fromTemplate(name: string, values: Values = {}): string {
  const text = readFileSync(join(folderWith(folder), folder, `${name}.mustache`), 'utf8')
  return fill(text, { framework: packageName, program: programName, ...values })
}

const tagOnItsLine = /^(\{\{[#^/]\w+\}\})\n/gm
const section = /\{\{([#^])(\w+)\}\}([\s\S]*?)\{\{\/\2\}\}/g
const tag = /\{\{([#^/]?)(\w+)\}\}/g

/**
 * Fills the holes of a template, in a small part of the language Mustache, whose package the command line would otherwise need:
 * `{{name}}` is a value, unescaped. The text in `{{#name}} … {{/name}}` stays if the value is neither empty nor false, that in
 * `{{^name}} … {{/name}}` otherwise. Such a tag can have a line of its own, which is removed.
 *
 * @throws Error for a hole without a value, and for a section without a beginning or an end.
 */
export function fill(template: string, values: Values): string {
  const valueFor = (name: string) => {
    if (!Object.hasOwn(values, name)) throw new Error(`A template has the hole {{${name}}}, which has no value`)
    return values[name]
  }
  const chosen = (text: string): string =>
    text.replaceAll(section, (_all, kind: string, name: string, inside: string) =>
      Boolean(valueFor(name)) === (kind === '#') ? chosen(inside) : '',
    )
  return chosen(template.replaceAll(tagOnItsLine, '$1')).replaceAll(tag, (all, kind: string, name: string) => {
    if (kind !== '') throw new Error(`A template has ${all} without its other end`)
    const value = valueFor(name)
    if (typeof value !== 'string') throw new Error(`A template has the hole ${all}, whose value is not a string`)
    return value
  })
}

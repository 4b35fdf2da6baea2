import { builtinModules } from 'node:module'
import { packageName } from '../package.ts'

/** Why npm would refuse a name, or a project could not have it; `undefined` if it is fine. */
export function whyNoPackageName(name: string): string | undefined {
  if (name === '') return 'it is empty'
  if (name.length > 214) return 'it has more than 214 characters'
  if (name !== name.toLowerCase()) return 'it has upper-case letters'
  const parts = /^@([^/]*)\/([^/]*)$/.exec(name)?.slice(1) ?? [name]
  if (!parts.every((part) => /^[a-z0-9][a-z0-9._-]*$/.test(part))) {
    return 'it takes the letters a to z, digits, - . and _, a letter or digit first, and "@scope/" before that'
  }
  if (reserved.has(name)) return `"${name}" is taken: npm, Node.js or the project itself already uses that name`
  return undefined
}

/** A valid name, made from an invalid one; `undefined` if nothing of it would be left. */
export function packageNameFrom(text: string): string | undefined {
  const name = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
    .slice(0, 100)
  return whyNoPackageName(name) === undefined ? name : undefined
}

/** A package may not depend on itself, so its name cannot be that of a package in the project. */
const reserved = new Set([
  'node_modules',
  'favicon.ico',
  ...builtinModules,
  ...[packageName, 'vitest', 'typescript', 'esbuild', 'mqtt', 'graphql', 'node-schedule'],
])

import { existsSync, statSync } from 'node:fs'
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { madeIn } from '../../plugins/shared/values/memoize.ts'
import { packageName } from '../package.ts'
import { codeFrame, mistakesOf, placeOf } from './code-frame.ts'

/** Loads esbuild, which is optional: the hooks are registered only if it is installed. */
const esbuild = () => import('esbuild')

/** The data with which the hooks are registered. */
export interface HookData {
  /** Whether there will certainly be TypeScript: most threads of an application run JavaScript of packages, such as loggers. */
  readonly isEager: boolean
}

/** Node.js calls this first, with the data of the registration. */
export const initialize: InitializeHook<HookData> = ({ isEager }) => {
  // esbuild's process starts with the first call, while the first module is being resolved.
  if (isEager)
    void esbuild()
      .then(({ transform }) => transform(''))
      .catch(() => {})
}

const isTypeScript = (url: string) => url.startsWith('file:') && /\.[cm]?tsx?$/.test(url.replace(/[?#].*$/s, ''))

/** The paths that TypeScript allows for a file: `./a.js` and `./a` for `a.ts`, `./a` for `a/index.ts`. */
function candidates(path: string): string[] {
  const extension = extname(path)
  const stem = path.slice(0, path.length - extension.length)
  const written = { '.js': ['.ts', '.tsx'], '.mjs': ['.mts'], '.cjs': ['.cts'], '.jsx': ['.tsx'] }[extension] ?? []
  return [
    ...written.map((ending) => stem + ending),
    ...['.ts', '.tsx', '.mts', '.js', '.mjs'].map((ending) => path + ending),
    ...['index.ts', 'index.tsx', 'index.js'].map((index) => join(path, index)),
  ]
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Node.js calls this for every import. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  const parent = context.parentURL
  const isRelative = /^(\.{1,2}(\/|$)|\/|file:)/.test(specifier)
  // Imports between packages are not handled here, nor are those of this file itself.
  const isPackage = parent?.includes('/node_modules/') || parent === import.meta.url
  if (parent === undefined || !parent.startsWith('file:') || isPackage) {
    return next(specifier, context)
  }
  if (isRelative) {
    const url = new URL(specifier, parent)
    const path = fileURLToPath(url)
    const found = isFile(path) ? undefined : candidates(path).find(isFile)
    return next(found === undefined ? specifier : pathToFileURL(found).href + url.search, context)
  }
  // An alias of the framework, as in its own sources, would load a second copy next to the one that the command works with.
  const isFixed = specifier.includes(':') || specifier === packageName || specifier.startsWith(`${packageName}/`)
  const aliased = isFixed ? undefined : await aliasOf(specifier, dirname(fileURLToPath(parent)))
  return next(aliased === undefined ? specifier : pathToFileURL(aliased).href, context)
}

/** Node.js calls this for every file. */
export const load: LoadHook = async (url, context, next) => {
  if (!isTypeScript(url) || url.includes('/node_modules/')) return next(url, context)
  const file = fileURLToPath(url)
  const isCommonJs = /\.cts$/.test(file)
  const { build } = await esbuild()
  const { outputFiles } = await build({
    entryPoints: [file],
    // Built, although not bundled: a build reads the tsconfig.json of the file, which determines its decorators.
    bundle: false,
    write: false,
    format: isCommonJs ? 'cjs' : 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    // As in cli/build/compile.ts.
    keepNames: true,
    sourcemap: 'inline',
    sourcesContent: false,
    outdir: dirname(file),
    logLevel: 'silent',
  }).catch(refuse)
  return { format: isCommonJs ? 'commonjs' : 'module', source: outputFiles[0]!.text, shortCircuit: true }
}

/** Reports a mistake in a file of the application with its place; the place in esbuild does not matter. */
function refuse(error: unknown): never {
  const mistakes = mistakesOf(error)
  if (mistakes.length === 0) throw error
  const failure = new SyntaxError(mistakes.map(codeFrame).join('\n\n'))
  failure.stack = `${failure.message}\n    at ${mistakes.map(placeOf).find(Boolean)}`
  throw failure
}

const aliases = new Map<string, Promise<string | undefined>>()

/** The file to which `paths` of the nearest tsconfig.json maps a name, as esbuild reads it. */
function aliasOf(specifier: string, folder: string): Promise<string | undefined> {
  const config = configAbove(folder)
  if (config === undefined) return Promise.resolve(undefined)
  return madeIn(aliases, `${config} ${specifier}`, () => lookUp(specifier, folder))
}

const configs = new Map<string, string | undefined>()

function configAbove(folder: string): string | undefined {
  if (configs.has(folder)) return configs.get(folder)
  const file = join(folder, 'tsconfig.json')
  const above = dirname(folder)
  let found: string | undefined
  // Without such a file, no name can be mapped.
  if (existsSync(file))
    found = /"(paths|extends|baseUrl)"/.test(readRegularFileSync(file).toString('utf8')) ? file : undefined
  else if (above !== folder) found = configAbove(above)
  configs.set(folder, found)
  return found
}

async function lookUp(specifier: string, folder: string): Promise<string | undefined> {
  const { build } = await esbuild()
  let found: string | undefined
  await build({
    stdin: { contents: `import ${JSON.stringify(specifier)}`, resolveDir: folder },
    bundle: true,
    write: false,
    packages: 'external',
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        name: 'alias',
        setup: (one) => {
          // Only the targets of aliases are loaded as files here, since packages are external.
          one.onLoad({ filter: /.*/, namespace: 'file' }, ({ path }) => {
            found = path
            return { contents: '' }
          })
        },
      },
    ],
  }).catch(() => undefined)
  return found
}

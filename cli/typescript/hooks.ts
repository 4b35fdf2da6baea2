import { statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { packageName } from '../package.ts'
import { isCommonJs, translated } from './translate.ts'
import { aliasOf } from './tsconfig.ts'

/** A hook of Node.js, on the main thread or in a thread of its own, where `next` returns a promise. */
type Hook<Context, Result> = <Next>(
  given: string,
  context: Context,
  next: (given: string, context: Context) => Next,
) => Next | Result

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

/** Who imports, and whether it does so by `import` or by `require`. */
interface Importing {
  readonly parentURL?: string | undefined
  readonly conditions?: readonly string[]
}

/** Node.js calls this for every import. */
export const resolve: Hook<Importing, never> = (specifier, context, next) => {
  const parent = context.parentURL
  const isRelative = /^(\.{1,2}(\/|$)|\/|file:)/.test(specifier)
  // Imports between packages are not handled here.
  if (parent === undefined || !parent.startsWith('file:') || parent.includes('/node_modules/'))
    return next(specifier, context)
  // On the main thread, `require` asks as well. Its rules are those of Node.js.
  if (context.conditions?.includes('require')) return required(() => next(specifier, context))
  if (isRelative) {
    const url = new URL(specifier, parent)
    const path = fileURLToPath(url)
    const found = isFile(path) ? undefined : candidates(path).find(isFile)
    return next(found === undefined ? specifier : pathToFileURL(found).href + url.search, context)
  }
  // An alias of the framework, as in its own sources, would load a second copy next to the one that the command works with. esbuild looks aliases up.
  const isOwn = [packageName, 'esbuild'].some((name) => specifier === name || specifier.startsWith(`${name}/`))
  const aliased = isOwn || specifier.includes(':') ? '' : aliasOf(specifier, dirname(fileURLToPath(parent)))
  return next(aliased === '' ? specifier : pathToFileURL(aliased).href, context)
}

/** Without the frames of the hooks, of which there are so many that the place of a failed call would not be among the ten of an error. */
function required<Found>(find: () => Found): Found {
  try {
    return find()
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, required)
    throw error
  }
}

/** A module that was translated. */
type Loaded = { readonly format: 'commonjs' | 'module'; readonly source: string; readonly shortCircuit: true }

/** Node.js calls this for every file. */
export const load: Hook<object, Loaded> = (url, context, next) => {
  if (!isTypeScript(url) || url.includes('/node_modules/')) return next(url, context)
  const file = fileURLToPath(url)
  return { format: isCommonJs(file) ? 'commonjs' : 'module', source: translated(file), shortCircuit: true }
}

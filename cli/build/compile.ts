import { existsSync } from 'node:fs'
import { dirname, extname, join, relative, sep } from 'node:path'
import type { BuildOptions, Message, OutputFile, Plugin } from 'esbuild'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { CommandFailure } from '../failure.ts'
import { codeFrame, mistakesOf } from '../typescript/code-frame.ts'
import { endingOf, isModule, type Layout, placeOf } from './layout.ts'

export interface CompileOptions {
  readonly target: string
  readonly minify: boolean
  readonly sourcemap: boolean
  /** The modules that begin by importing this file of the build. */
  readonly marked: ReadonlySet<string>
  readonly marker: string
}

/**
 * Translates modules one by one, each into a file of its own, including imported modules outside the sources.
 *
 * Nothing is bundled: a module exists once, where `import.meta.url`, globs and stack traces look for it. Imports are still
 * resolved, because aliases and missing endings mean nothing to Node.js.
 *
 * @throws (as a rejection) CommandFailure with every mistake, each with its line.
 */
export async function compile(layout: Layout, modules: readonly string[], options: CompileOptions) {
  const { build } = await import('esbuild')
  const files: OutputFile[] = []
  const warnings: Message[] = []
  const mistakes: Message[] = []
  const known = new Set(modules)
  const one = async (file: string) => {
    try {
      const result = await build(settingsFor(layout, file, options, known))
      files.push(...(result.outputFiles ?? []))
      warnings.push(...result.warnings)
    } catch (error) {
      const found = mistakesOf(error)
      if (found.length === 0) throw error
      mistakes.push(...found)
    }
  }
  // Imported modules outside the sources that one wave finds are the next wave.
  for (let done = 0; done < known.size; ) {
    const wave = [...known].slice(done)
    done = known.size
    await Promise.all(wave.map(one))
  }
  if (mistakes.length === 0) return { files, warnings }
  const reports = mistakes.map(codeFrame).sort()
  throw new CommandFailure(
    [...reports, `${reports.length} ${reports.length === 1 ? 'error' : 'errors'}; nothing was written`].join('\n\n'),
  )
}

function settingsFor(layout: Layout, file: string, options: CompileOptions, known: Set<string>): BuildOptions {
  const { minify, sourcemap, target, marked, marker } = options
  const isCommonJs = endingOf(file) === '.cjs'
  const isMarked = marked.has(file) && !isCommonJs
  const place = placeOf(layout, file)
  return {
    absWorkingDir: layout.root,
    entryPoints: [file],
    outfile: place,
    ...(isMarked && { banner: { js: `import ${JSON.stringify(nameFrom(dirname(place), marker))};` } }),
    write: false,
    bundle: true,
    // As in cli/typescript/hooks.ts.
    resolveExtensions: ['.ts', '.tsx', '.mts', '.js', '.mjs', '.json'],
    packages: 'external',
    // A file that is linked into the sources is built at the place of the link.
    preserveSymlinks: true,
    platform: 'node',
    format: isCommonJs ? 'cjs' : 'esm',
    target,
    minify,
    // Routes, errors and the tree of plugins show names of classes and functions. Unless minified, `const log = function log` is log2.
    keepNames: true,
    treeShaking: false,
    sourcemap: sourcemap ? 'linked' : false,
    logLevel: 'silent',
    plugins: [keepApart(layout, file, known)],
  }
}

/** Keeps imports of other modules as imports, with the names that these modules have in the build. */
function keepApart(layout: Layout, file: string, known: Set<string>): Plugin {
  const seen = Symbol('seen')
  const folder = dirname(placeOf(layout, file))
  return {
    name: 'keep-apart',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir, pluginData, with: attributes }) => {
        if (kind === 'entry-point' || pluginData === seen) return undefined
        if (importer !== file && isModule(importer)) return { path, external: true }
        const found = await build.resolve(path, { kind, importer, resolveDir, with: attributes, pluginData: seen })
        if (found.errors.length > 0 || found.external || found.namespace !== 'file') return found
        // Files that must be translated to be imported, JSON above all, become part of the module.
        if (!isModule(found.path)) return found
        if (found.path.includes(`${sep}node_modules${sep}`)) return { path, external: true }
        known.add(found.path)
        // `?x=1` at the end makes it a module of its own.
        return { path: nameFrom(folder, placeOf(layout, found.path)) + found.suffix, external: true }
      })
      // Only esbuild resolves an import() of a pattern, and it would bundle the modules: each is replaced with one that imports it.
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, ({ path }) => {
        if (path === file) return withBuiltUrls(layout, file, known)
        known.add(path)
        const name = JSON.stringify(nameFrom(folder, placeOf(layout, path)))
        return {
          contents: `import * as all from ${name}; export * from ${name}; export default all.default`,
          loader: 'js',
        }
      })
    },
  }
}

/** `new URL('./worker.ts', import.meta.url)`: how a module names another module for a thread or a process. */
const ownUrl = /(\bnew\s+URL\(\s*(['"]))(\.{1,2}\/[^'"\\]+\.[cm]?tsx?)(?=\2\s*,\s*import\.meta\.url\b)/g

/** The module with such names as they are in the build; `undefined` if it has none. The lines stay the same for the source map. */
function withBuiltUrls(layout: Layout, file: string, known: Set<string>) {
  const source = readRegularFileSync(file).toString('utf8')
  const contents = source.replaceAll(ownUrl, (all, before: string, _quote, name: string) => {
    const named = join(dirname(file), name)
    if (!existsSync(named)) return all
    known.add(named)
    return before + nameFrom(dirname(placeOf(layout, file)), placeOf(layout, named))
  })
  if (contents === source) return undefined
  return { contents, loader: extname(file).replace(/^\.[cm]?/, '') as 'ts' | 'tsx' | 'js' | 'jsx' }
}

function nameFrom(folder: string, file: string): string {
  const name = relative(folder, file).replaceAll('\\', '/')
  return name.startsWith('.') ? name : `./${name}`
}

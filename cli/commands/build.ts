import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { installCommand } from '../../plugins/shared/environment/optional-package.ts'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { orFail } from '../../plugins/shared/values/safely.ts'
import { compile } from '../build/compile.ts'
import { findSources, isModuleScope, type Layout, placeOf, placeOfAsset, refuseClashes } from '../build/layout.ts'
import { type BuiltFile, checkOut, writeOut } from '../build/out-folder.ts'
import { columns } from '../columns.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import { findProject, typedPath } from '../project/project.ts'
import { findStartFile, sourcesOf, startFlag } from '../project/start-file.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'
import { codeFrame } from '../typescript/code-frame.ts'

export const build = ownCommand({
  details: `Compiles every module of the sources to its own file (src/x.ts becomes dist/x.js) and copies all other files, such as templates,
SDL and JSON, but no keys or files with secrets (.pem, .key, .p12, .env). "node dist/index.js" runs the result with the packages of the
project. The build does not check types: "tsc --noEmit" does. Bun and Deno run the sources as they are and need no build.`,
  flags: {
    entry: startFlag,
    out: text('folder', 'The output folder (default dist)', { short: 'o' }),
    minify: onOff('Minifies the code, but keeps the names of functions and classes'),
    sourcemap: onOff('Writes no source maps', { default: true }),
    target: text('version', 'The oldest version of Node.js that the build must run on', { default: 'node20' }),
    force: onOff('Writes into a folder with other files, and builds projects of Bun and Deno too', { short: 'f' }),
    json: onOff('Prints the written files as JSON'),
  },
  async run({ flags, print, note }) {
    const start = performance.now()
    const root = process.cwd()
    if (!/^node\d+(\.\d+){0,2}$/.test(flags.target))
      throw wrongUsage(`--target takes a version of Node.js, node20 or node22.12, not "${flags.target}"`)
    const startFile = findStartFile(root, flags.entry)
    refuseOthers(flags.force, startFile)
    const out = resolve(root, flags.out === undefined ? 'dist' : typedPath(flags.out))
    const layout = { root, sources: resolve(root, sourcesOf(startFile)), out }
    checkOut(layout, flags.force)
    const { files, warnings, secrets } = await make(layout, resolve(root, startFile), flags)
    for (const warning of warnings) note(`warning: ${codeFrame(warning)}`)
    const leftOut = secrets.map((path) => relative(root, path).replaceAll('\\', '/'))
    if (leftOut.length > 0) {
      note(
        `warning: not copied, because they may contain secrets: ${leftOut.join(', ')}. Let the application read them from a path in an environment variable`,
      )
    }
    writeOut(layout.out, files)
    const written = files.map(({ path, contents }) => ({
      path: relative(root, path).replaceAll('\\', '/'),
      bytes: Buffer.byteLength(contents),
    }))
    const ms = Math.round(performance.now() - start)
    const main = relative(root, placeOf(layout, resolve(root, startFile)))
    if (flags.json) return print(JSON.stringify({ main, ms, files: written, leftOut }, undefined, 2))
    const shown = written.filter(({ path }) => !path.endsWith('.map'))
    for (const line of columns(shown.map(({ path, bytes }) => [path, size(bytes)]))) print(line)
    const total = written.reduce((sum, { bytes }) => sum + bytes, 0)
    note(
      `${written.length} files, ${size(total)}, in ${ms} ms. Start it: node ${flags.sourcemap ? '--enable-source-maps ' : ''}${main}`,
    )
  },
})

const size = (bytes: number) => (bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} kB`)

function refuseOthers(force: boolean, startFile: string): void {
  const { runtime, packageManager } = findProject()
  if (runtime !== 'node' && !force) {
    const name = runtime === 'bun' ? 'Bun' : 'Deno'
    throw new CommandFailure(
      `a build is for Node.js, but this project runs on ${name}, which needs none: ${runtime === 'bun' ? 'bun' : 'deno run -A'} ${startFile}. --force builds anyway`,
    )
  }
  const command = installCommand(packageManager, ['esbuild'], { dev: true })
  const missing = () => new CommandFailure(`the build needs esbuild, which is not installed: ${command}`)
  orFail(() => createRequire(import.meta.url).resolve('esbuild'), missing)
}

/** All files of the build. */
async function make(layout: Layout, startFile: string, flags: { minify: boolean; sourcemap: boolean; target: string }) {
  const sourceFiles = findSources(layout)
  refuseClashes(layout, sourceFiles)
  const { modules, assets, secrets } = sourceFiles
  const { root, sources, out } = layout
  const marker = join(out, 'framework-build.js')
  // Files that start a process are at the top: the start file, the server for the commands, other programs.
  const marked = new Set([startFile, ...modules.filter((file) => dirname(file) === sources)])
  const all = modules.includes(startFile) ? modules : [...modules, startFile]
  const compiled = await compile(layout, all, { ...flags, marked, marker })
  const named = relative(root, sources).replaceAll('\\', '/')
  const files: BuiltFile[] = [
    ...compiled.files,
    ...assets.map((path) => ({
      path: placeOfAsset(layout, path),
      contents: new Uint8Array(readRegularFileSync(path)),
    })),
    { path: marker, contents: markerOf(named) },
  ]
  if (!isModuleScope(dirname(out))) files.push({ path: join(out, 'package.json'), contents: '{ "type": "module" }\n' })
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), warnings: compiled.warnings, secrets }
}

const markerOf = (
  sources: string,
) => `// Maps "${sources}" of the sources to this folder: globs like "src/crons/*.ts" mean the built files.
globalThis[Symbol.for('framework.build')] ??= ${JSON.stringify({ sources }).slice(0, -1)}, "folder": import.meta.dirname }
`

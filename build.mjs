import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'

// `node build.mjs [--out <folder>] [--keep]`: compiles to `dist`. `--keep` leaves the single modules beside the bundles,
// for benchmarks that look inside.
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' }, keep: { type: 'boolean' } } })
const root = import.meta.dirname
const out = join(root, relative(root, values.out))
rmSync(out, { recursive: true, force: true })

// The types, and a module for each source file.
const compiled = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', out],
  { cwd: root, encoding: 'utf8' },
)
process.stdout.write(compiled.stdout)
// The hooks that load TypeScript run in a thread of their own, and what serve puts before an application is named to
// another process: both by their files, so they are doors.
const doors = [
  'index',
  'kernel/index',
  'plugins/index',
  ...pluginDoors(),
  'cli/index',
  'cli/typescript/hooks',
  'cli/serve/preload',
]
for (const door of doors) {
  if (!existsSync(join(out, `${door}.js`))) {
    console.error(`${door}.js was not built`)
    process.exit(1)
  }
}

/**
 * One file for each door, and shared ones where doors have something in common: a server that starts reads some thirty
 * files in place of two hundred. Packages stay outside, so that their security fixes need no release of this one.
 */
const bundle = await rolldown({
  input: Object.fromEntries(doors.map((door) => [door, join(root, `${door}.ts`)])),
  external: (/** @type {string} */ id) => !id.startsWith('.') && !id.startsWith('/'),
  platform: 'node',
  tsconfig: join(root, 'tsconfig.build.json'),
})
const { output } = await bundle.write({
  dir: out,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  sourcemap: true,
})
await bundle.close()

if (!values.keep) {
  const wanted = new Set(output.flatMap(({ fileName }) => [fileName, `${fileName}.map`]))
  for (const file of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    const isCode = file.endsWith('.js') || file.endsWith('.js.map')
    if (isCode && !wanted.has(file.replaceAll('\\', '/'))) rmSync(join(out, file))
  }
}
// npm does it when it installs the package, and not again when a linked one is built anew.
chmodSync(join(out, 'cli/index.js'), 0o755)
process.exitCode = compiled.status ?? 1

function pluginDoors() {
  return readdirSync(join(root, 'plugins'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, 'plugins', entry.name, 'index.ts')))
    .map(({ name }) => `plugins/${name}/index`)
}

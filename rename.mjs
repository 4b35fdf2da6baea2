import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// `npm run rename -- <name> [address of the repository]`: gives the package another name, everywhere. The code reads the name from
// package.json; documentation, examples and tests contain it, and are rewritten.
const root = import.meta.dirname
const [name = '', repository] = process.argv.slice(2)
const packageFile = join(root, 'package.json')
const manifest = JSON.parse(readFileSync(packageFile, 'utf8'))
const before = manifest.name
const programBefore = Object.keys(manifest.bin)[0] ?? before
// A scope belongs to the package; the typed program has none.
const program = name.replace(/^@[^/]+\//, '')

if (!/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/.test(name)) {
  console.error('npm run rename -- <name> [repository]: a name as npm takes it, web-kit or @acme/web-kit')
  process.exit(2)
}
if (repository !== undefined && !/^https:\/\/[^\s/]+\/\S+$/.test(repository)) {
  console.error(`${repository} is not the address of a repository: https://host/owner/name`)
  process.exit(2)
}

manifest.name = name
manifest.bin = { [program]: manifest.bin[programBefore] }
for (const members of [manifest, manifest.scripts]) {
  const { [programBefore]: own } = members
  delete members[programBefore]
  members[program] = own
}
if (repository !== undefined) {
  const address = repository.replace(/(\.git)?\/?$/, '')
  manifest.repository = { type: 'git', url: `git+${address}.git` }
  manifest.homepage = `${address}#readme`
  manifest.bugs = `${address}/issues`
}
writeFileSync(packageFile, `${JSON.stringify(manifest, undefined, 2)}\n`)

const lockFile = join(root, 'package-lock.json')
const lock = JSON.parse(readFileSync(lockFile, 'utf8'))
lock.name = name
lock.packages[''] = { ...lock.packages[''], name, bin: manifest.bin }
writeFileSync(lockFile, `${JSON.stringify(lock, undefined, 2)}\n`)

const literally = (/** @type {string} */ text) => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const old = literally(before)
const oldProgram = literally(programBefore)
const entryPoints = 'env|contract|kernel|plugins|testing'
/** @type {readonly (readonly [RegExp, string])[]} */
const rules = [
  // Names of imports and augmentations: in quotes, or with the name of an entry point.
  [new RegExp(`(['"\`])${old}((?:/[\\w*./-]+)?)\\1`, 'g'), `$1${name}$2$1`],
  [new RegExp(`(?<![\\w./@-])${old}(?=/(?:${entryPoints})\\b)`, 'g'), name],
  // In regular expressions.
  [new RegExp(`\\^${old}(?=\\$|\\\\/)`, 'g'), `^${literally(name)}`],
  [new RegExp(`(?<=node_modules/)${old}(?=[/'"\`])`, 'g'), name],
  [new RegExp(`(?<=\\.bin/|vendor/)${oldProgram}(?=[/'"\`-])`, 'g'), program],
  // Typed commands.
  [new RegExp(`(?<=\\b(?:npm run|pnpm|yarn|bun run|deno task) )${oldProgram}\\b`, 'g'), program],
  [new RegExp(`(?<=[\`"]|Usage: )${oldProgram}(?= [\\w<-])`, 'g'), program],
  [new RegExp(`^# ${oldProgram}$`, 'gm'), `# ${program}`],
  // Names of plugins as packages, which begin with it.
  [new RegExp(`(?<=\`)${oldProgram}(?=-[a-z]+\`)`, 'g'), program],
]
// The command line reads the name from package.json, and has words of its own that look like it.
const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
  .stdout.split('\0')
  .filter((file) => /\.(ts|mts|mjs|js|json|md|ya?ml)$/.test(file))
  .filter((file) => !/^(cli\/|package(-lock)?\.json$|rename\.mjs$)|(^|\/)package-lock\.json$/.test(file))
let changed = 0
for (const file of files) {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const renamed = rules.reduce((result, [rule, to]) => result.replaceAll(rule, to), text)
  if (renamed === text) continue
  writeFileSync(path, renamed)
  changed++
}
console.log(
  `${before} is ${name}, in package.json and ${changed} files; npm run build, npm run format and npm test are next`,
)

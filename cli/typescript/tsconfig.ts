import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { madeIn } from '../../plugins/shared/values/memoize.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { esbuild } from './esbuild.ts'

const configs = new Map<string, string>()

/** The nearest tsconfig.json, or `''` if it maps no name: without one of these members, it cannot. */
const configAbove = (folder: string): string =>
  madeIn(configs, folder, () => {
    const file = join(folder, 'tsconfig.json')
    if (!existsSync(file)) return folder === dirname(folder) ? '' : configAbove(dirname(folder))
    return /"(paths|extends|baseUrl)"/.test(readRegularFileSync(file).toString('utf8')) ? file : ''
  })

const aliases = new Map<string, string>()

/** The file to which `paths` of the nearest tsconfig.json maps a name, as esbuild reads it; `''` for none. */
export function aliasOf(specifier: string, folder: string): string {
  const config = configAbove(folder)
  if (config === '' || isBuiltin(specifier)) return ''
  return madeIn(aliases, `${config} ${specifier}`, () => safely(() => lookUp(specifier, folder), ''))
}

/** Files are empty here, so that of the target of an alias alone something is known. Packages are external. */
const empty = Object.fromEntries(
  ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'].map((ending) => [ending, 'empty'] as const),
)

function lookUp(specifier: string, folder: string): string {
  const { metafile } = esbuild().buildSync({
    stdin: { contents: `import ${JSON.stringify(specifier)}`, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    write: false,
    metafile: true,
    packages: 'external',
    platform: 'node',
    loader: { ...empty, ...(extname(specifier) !== '' && { [extname(specifier)]: 'empty' }) },
    logLevel: 'silent',
  })
  const found = Object.keys(metafile.inputs).find((input) => input !== '<stdin>')
  return found === undefined ? '' : resolve(folder, found)
}

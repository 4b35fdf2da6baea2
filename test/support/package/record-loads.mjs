// usage: node record-loads.mjs <log file> <specifier> — imports the specifier as seen from the working directory and
// prints the URLs of everything that was loaded on the way, as JSON. Hooks see what is imported, the cache of
// CommonJS sees what is required; on Node 20 neither sees both.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [log = '', specifier = ''] = process.argv.slice(2)
writeFileSync(log, '')
register('./record-hooks.mjs', import.meta.url, { data: { log } })

// Others may look at the same folder at the same time.
const importer = pathToFileURL(join(process.cwd(), `importer-${process.pid}.mjs`))
writeFileSync(importer, `export const loaded = await import(${JSON.stringify(specifier)})\n`)
const { loaded } = await import(importer.href)

const imported = readFileSync(log, 'utf8').split('\n').filter(Boolean)
const required = Object.keys(createRequire(import.meta.url).cache).map((path) => pathToFileURL(path).href)
process.stdout.write(JSON.stringify({ exports: Object.keys(loaded), urls: [...new Set([...imported, ...required])] }))

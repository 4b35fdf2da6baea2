import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { referencePages } from './pages.mjs'

const folder = process.argv[2] ?? 'dist-api'
const pages = referencePages()
rmSync(folder, { recursive: true, force: true })
for (const { path, text } of pages) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
console.log(`${pages.length} pages in ${folder}`)

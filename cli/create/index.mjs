#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

// `npm create framework my-app` runs the package of this name; what it means is `framework init my-app`.
const manifest = createRequire(import.meta.url).resolve('framework/package.json')
const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
process.argv.splice(2, 0, 'init')
await import(pathToFileURL(join(dirname(manifest), bin.framework)).href)

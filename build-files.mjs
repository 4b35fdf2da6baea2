import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Files beside a module that it reads when it is loaded, such as the script of a page: the bundles contain them.
 * @param {string} code
 * @param {string} id
 */
export function withFiles(code, id) {
  return code.replace(
    /readFileSync\(new URL\('(\.\/[\w./-]+)', import\.meta\.url\), 'utf8'\)/g,
    (_, /** @type {string} */ file) => JSON.stringify(readFileSync(join(dirname(id), file), 'utf8')),
  )
}

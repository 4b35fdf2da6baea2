import { readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { transformSync } from 'esbuild'

/**
 * Files beside a module that it reads when it is loaded, such as the script of a page: the bundles contain them. Scripts and styles are
 * minified, which takes 13 kB of the package; the names at their top level stay, since some are put together.
 * @param {string} code
 * @param {string} id
 */
export function withFiles(code, id) {
  return code.replace(
    /readFileSync\(new URL\('(\.\/[\w./-]+)', import\.meta\.url\), 'utf8'\)/g,
    (_, /** @type {string} */ file) => JSON.stringify(minified(readFileSync(join(dirname(id), file), 'utf8'), file)),
  )
}

/**
 * @param {string} text
 * @param {string} file
 */
function minified(text, file) {
  const loader = /** @type {{ [ending: string]: 'js' | 'css' | undefined }} */ ({ '.js': 'js', '.css': 'css' })[
    extname(file)
  ]
  return loader === undefined ? text : transformSync(text, { loader, minify: true, target: 'es2022' }).code
}

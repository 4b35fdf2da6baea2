import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './template.ts'
import { Refused, writeSite } from './write.ts'

const { values } = parseArgs({
  options: {
    /** Where the site is written. */
    out: { type: 'string', default: join(root, 'dist-site') },
    base: { type: 'string' },
  },
})
try {
  const out = resolve(values.out)
  const { pages } = await writeSite(out, { base: values.base })
  console.log(`${pages.size} pages in ${out}`)
} catch (error) {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = 2
}

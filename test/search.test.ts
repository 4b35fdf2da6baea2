import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { questions } from './support/docs/questions.ts'
import { root } from './support/docs/texts.ts'

const { isInstalled } = (await import(new URL('./support/run/runtimes.mjs', import.meta.url).href)) as {
  isInstalled(folder: string): boolean
}

describe.skipIf(!isInstalled(join(root, 'docs/site')))('the search of the site', () => {
  /** The pages that a question finds, the best first, without the reference of each name, which takes seconds to make. */
  let pagesFor: (question: string) => string[]

  beforeAll(async () => {
    const { sidebar } = await import('../docs/site/sidebar.ts')
    const { collect } = await import('../docs/site/collect.ts')
    const { readIndex, searchIndex } = await import('../docs/site/readers.ts')
    const { find } = await import('../docs/site/client/words.ts')
    const { inOrder } = await import('../docs/site/template.ts')
    const site = collect(
      root,
      sidebar.filter(({ title }) => title !== 'API'),
    )
    const index = readIndex(searchIndex(inOrder(site)))
    pagesFor = (question) => [...new Set(find(index, question).map(({ id }) => String(id).replace(/\.html.*$/, '')))]
  })

  test('there are 80 questions', () => expect(questions.length).toBeGreaterThanOrEqual(80))

  test.each(questions)('%s', (question, page) => {
    expect(pagesFor(question).slice(0, 3)).toContain(page)
  })
})

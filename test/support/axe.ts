import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { isLong } from './long.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds in a page as it is, each rule with the elements that break it. `options` are those of axe, for example for some rules only, and
 * so is `context`, which leaves out elements.
 */
export async function violations(page: Page, options: object = {}, context: object = {}): Promise<unknown[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  return page.evaluate(
    async ([context, options]) => {
      const { axe } = globalThis as unknown as {
        axe: {
          run(context: object, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
        }
      }
      const { violations } = await axe.run({ include: document, ...context }, options)
      return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
    },
    [context, options] as const,
  )
}

export interface Looks {
  /** In pixels: 1280 and 390 by default. At the first, all rules of axe are checked, and the contrast in the dark. The long run checks all rules in each look. */
  readonly widths?: readonly number[]
  /** Whether all rules are checked at the other widths as well, which have another layout. */
  readonly isOfAllWidths?: boolean
  /** What else holds in each look. */
  readonly also?: (look: string) => Promise<unknown>
}

/**
 * What is wrong with a page in light and dark colours and at each width, on one load: what axe finds, and by how much the page is wider than the
 * screen. Axe is most of what a page costs, and finds the same at each width as long as the layout is the same.
 */
export async function faults(page: Page, options: Looks = {}): Promise<unknown[]> {
  const { widths = [1280, 390], isOfAllWidths = false, also } = options
  const found: unknown[] = []
  const note = async (look: string, wrong: unknown[]) => {
    if (wrong.length > 0) found.push([look, ...wrong])
    await also?.(look)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (over > 0) found.push(`${look}: ${over} pixels wider than the screen`)
  }
  for (const [i, width] of widths.entries()) {
    await page.setViewportSize({ width, height: 800 })
    const isWhole = i === 0 || isOfAllWidths || isLong
    await page.emulateMedia({ colorScheme: 'light' })
    await note(`light-${width}`, isWhole ? await violations(page) : [])
    await page.emulateMedia({ colorScheme: 'dark' })
    const contrast = isLong ? {} : { runOnly: ['color-contrast'] }
    await note(`dark-${width}`, i === 0 || isLong ? await violations(page, contrast) : [])
  }
  return found
}

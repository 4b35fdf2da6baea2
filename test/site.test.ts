import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { violations } from './support/axe.ts'
import { hasChromium, startChromium, watch } from './support/chromium.ts'
import { faintWords } from './support/contrast.ts'
import { type Program, startProgram } from './support/docs/program.ts'
import { questions } from './support/docs/questions.ts'
import { root } from './support/docs/texts.ts'
import { withTypeScript } from './support/typescript-process.ts'

const { isInstalled, isContinuousIntegration } = (await import(
  new URL('./support/run/runtimes.mjs', import.meta.url).href
)) as { isInstalled(folder: string): boolean; isContinuousIntegration(): boolean }
const installed = isInstalled(join(root, 'docs/site'))

test('what builds the site is installed: npm ci --prefix docs/site', ({ skip }) => {
  if (!isContinuousIntegration()) skip(!installed)
  expect(installed).toBe(true)
})

/** One page of each kind: home, first steps, recipe, guide, page with a drawing, reference, plugin, API, table of results, file, folder, unknown. */
const kinds = [
  '/',
  '/docs/first-steps/log-in.html',
  '/docs/recipes/oauth.html',
  '/docs/guides/deployment.html',
  '/docs/life-cycle.html',
  '/docs/reference/routes.html',
  '/docs/plugins/cors.html',
  '/docs/api/index.html',
  '/docs/benchmarks.html',
  '/docs/examples/telemetry.ts.html',
  '/docs/examples/recipes/index.html',
  '/404.html',
]

// site-clone.long.test.ts types the second one in a clone.
test('the workflow that publishes the site needs two commands', () => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/site.yml'), 'utf8')) as {
    jobs: { publish: { steps: { run?: string }[] } }
  }
  expect(jobs.publish.steps.flatMap(({ run }) => run ?? [])).toEqual([
    'npm ci',
    'npm run site -- --base "$BASE" --out "$RUNNER_TEMP/site"',
  ])
})

/**
 * Opens what the site shows with types before the reference is read, so that the compiler makes one program of both and not two. Without the
 * large packages of which neither shows a type: site-clone.long.test.ts has them.
 */
async function openTyped(): Promise<void> {
  const { ts } = (await import(new URL('../docs/site/reference/program.mjs', import.meta.url).href)) as {
    ts: { sys: { fileExists(path: string): boolean } }
  }
  const { fileExists } = ts.sys
  const unseen =
    /\/node_modules\/(@aws-sdk|@azure|@graphql-tools|bullmq|graphql|ioredis|jose|mysql2|nodemailer|pg-boss|postgres)\//
  ts.sys.fileExists = (path) => !unseen.test(path) && fileExists(path)
  const { codesOf, readMarkdown } = (await import(new URL('../docs/site/markdown.ts', import.meta.url).href)) as {
    readMarkdown(text: string): { tokens: object[] }
    codesOf(tokens: object[], file: string): object[]
  }
  const { readTypes } = (await import(new URL('../docs/site/types.ts', import.meta.url).href)) as {
    readTypes(codes: object[]): unknown
  }
  readTypes(typed.flatMap((file) => codesOf(readMarkdown(readFileSync(join(root, file), 'utf8')).tokens, file)))
}

interface Written {
  readonly file: string
  /** Its path on the site. */
  readonly to: string
}

/** What builds the site, without its types: they need what is installed for it. */
const writing = () =>
  import(new URL('../docs/site/write.ts', import.meta.url).href) as Promise<{
    writeSite(out: string, how?: Record<'isTyped' | 'isColoured', (page: Written) => boolean>): Promise<unknown>
  }>
/** The pages that tests read with types; site-clone.long.test.ts reads all. */
const typed = ['README.md', 'docs/first-steps/routes.md', 'docs/plugins/cors.md']
const isTyped = ({ file }: Written) => typed.includes(file)
const isColoured = (page: Written) => isTyped(page) || kinds.includes(`/${page.to}`)
if (installed) {
  // What is not installed cannot be imported.
  await openTyped()
  await import('./site/reference.ts')
}

describe.skipIf(!installed)('the site', () => {
  let out = ''
  let files: string[] = []
  let pages: { file: string; html: string }[] = []

  beforeAll(async () => {
    out = mkdtempSync(join(tmpdir(), 'framework-site-'))
    await (await writing()).writeSite(out, { isTyped, isColoured })
    files = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((file) => statSync(join(out, file)).isFile())
    pages = files
      .filter((file) => file.endsWith('.html'))
      .map((file) => ({ file, html: readFileSync(join(out, file), 'utf8') }))
    // A quarter of a minute of processor time: a busy machine needs longer than other hooks have.
  }, 300_000)
  afterAll(() => rmSync(out, { recursive: true, force: true }))

  test('has every page of the documentation as a page and as it is', () => {
    const isOfReaders = (file: string) => file.endsWith('.md') && !/(^|\/)(site|node_modules)\//.test(file)
    const texts = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(isOfReaders)
    expect(texts.length).toBeGreaterThan(70)
    expect(texts.filter((file) => !files.includes(`docs/${file}`))).toEqual([])
    const html = texts.map((file) => `docs/${file}`.replace(/README\.md$/, 'index.md').replace(/md$/, 'html'))
    expect(html.filter((file) => !files.includes(file))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['index.html', '404.html', 'CHANGELOG.html', 'SECURITY.html']))
  })

  test('says of each page what it is, and shows a picture where a link to it is shared', () => {
    const place = (file: string) =>
      /<p class="section">([^<]+)<\/p>/.exec(pages.find((page) => page.file === file)!.html)?.[1]
    expect(place('docs/getting-started.html')).toBe('First steps')
    expect(place('docs/recipes/oauth.html')).toBe('Recipe')
    expect(place('docs/guides/errors.html')).toBe('Guide')
    expect(place('docs/guides/moving/hono.html')).toBe('Guide · Coming from')
    expect(place('docs/reference/routes.html')).toBe('Reference')
    expect(place('docs/plugins/csrf.html')).toBe('Reference · Plugins: protection')
    const images = pages.map(
      ({ file, html }) => [file, /property="og:image" content="([^"]+)"/.exec(html)?.[1]] as const,
    )
    expect(images.filter(([, image]) => image === undefined)).toEqual([])
    expect(files).toContain('assets/card.png')
  })

  test('links the place where a page is edited, once the package has a repository', async () => {
    const { editAddress } = (await import(new URL('../docs/site/template.ts', import.meta.url).href)) as {
      editAddress(page: { file: string }, url?: string): string | undefined
    }
    const url = 'git+https://code.example/acme/web-kit.git'
    expect(editAddress({ file: 'docs/cli.md' }, url)).toBe('https://code.example/acme/web-kit/edit/main/docs/cli.md')
    expect(editAddress({ file: 'docs/api/index.md' }, url)).toBeUndefined()
  })

  test('gives each page a title of its own and a description', () => {
    const titles = pages.map(({ html }) => /<title>(.+)<\/title>/.exec(html)?.[1])
    expect(titles.filter((title, i) => title === undefined || titles.indexOf(title) !== i)).toEqual([])
    const described = pages.map(({ file, html }) => [
      file,
      /name="description" content="([^"]*)"/.exec(html)?.[1] ?? '',
    ])
    expect(described.filter(([, text]) => text!.length < 20 || text!.length > 220)).toEqual([])
  })

  test('has no link to a file or an anchor that is not there', () => {
    const ids = new Map(
      pages.map(({ file, html }) => [file, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))]),
    )
    const dead = pages.flatMap(({ file, html }) =>
      [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
        .map(([, target]) => target!)
        .filter((target) => {
          if (/^https?:/.test(target)) return false
          const [path = '', anchor] = target.split('#')
          const to = path.startsWith('/') ? path.slice(1) : path === '' ? file : posix.join(posix.dirname(file), path)
          return !files.includes(to) || (anchor !== undefined && !ids.get(to)?.has(anchor))
        })
        .map((target) => `${file} → ${target}`),
    )
    expect(dead).toEqual([])
  })

  test('has a list of the pages and all of them in one text, for programs that read', () => {
    const list = readFileSync(join(out, 'llms.txt'), 'utf8')
    const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!)
    expect(links.length).toBeGreaterThan(70)
    expect(links.filter((to) => !files.includes(to))).toEqual([])
    const full = readFileSync(join(out, 'llms-full.txt'), 'utf8')
    for (const to of links.filter((one) => one.endsWith('.md')))
      expect(full).toContain(readFileSync(join(out, to), 'utf8').trim())
    // About 57 000 tokens.
    const small = readFileSync(join(out, 'llms-small.txt'), 'utf8')
    expect(small.length).toBeLessThan(200_000)
    for (const essential of ['# Routes', '# rateLimit', '# Getting started']) expect(small).toContain(essential)
  })

  test('has drawings with one style, each in a page', () => {
    const folder = join(root, 'docs/diagrams')
    const drawings = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const)
    const styles = new Set(drawings.map(([, svg]) => /<style>([\s\S]*)<\/style>/.exec(svg)?.[1]))
    expect([drawings.length > 3, styles.size, styles.has(undefined)]).toEqual([true, 1, false])
    const texts = pages.filter(({ html }) => html.includes('class="drawing"')).map(({ html }) => html)
    const ids = drawings.map(([file]) => `id="${file.replace('.svg', '')}-head"`)
    expect(ids.filter((id) => !texts.some((html) => html.includes(id)))).toEqual([])
  })

  test('refuses an option that it does not know, and a folder with other files', async () => {
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, ['docs/site/run.mjs', ...args], { cwd: root }).then(
        () => '',
        ({ code, stderr }: { code: number; stderr: string }) => `${code} ${stderr}`,
      )
    expect(await run('--bsae', '/docs/')).toMatch(/^2 Unknown option '--bsae'/)
    expect(await run('--serve', '--base', '/docs/')).toMatch(/^2 --serve serves the site at \//)
    expect(await run('--base', 'docs')).toMatch(/^2 --base takes a path .* not "docs"/)
    await expect((await writing()).writeSite(join(root, 'docs'))).rejects.toThrow('--out takes a folder that is empty')
    expect(existsSync(join(root, 'docs/errors.md'))).toBe(true)
  })

  describe('the search', () => {
    let pagesFor: (question: string) => string[]
    beforeAll(async () => {
      const { readIndex } = await import('../docs/site/readers.ts')
      const { find } = await import('../docs/site/client/words.ts')
      const index = readIndex(readFileSync(join(out, 'assets/search.json'), 'utf8'))
      // The pages that a question finds, the best first.
      pagesFor = (question) => [...new Set(find(index, question).map(({ id }) => String(id).replace(/\.html.*$/, '')))]
    })

    test('is asked 80 questions', () => expect(questions.length).toBeGreaterThanOrEqual(80))

    test.each(questions)('%s', (question, page) => {
      expect(pagesFor(question).slice(0, 3)).toContain(page)
    })
  })

  describe.skipIf(!hasChromium)('in a real browser', () => {
    let program: Program
    let origin = ''
    let browser: Browser

    beforeAll(async () => {
      program = await startProgram([...withTypeScript, 'docs/site/serve.ts', '--out', out])
      origin = program.url
      browser = await startChromium()
    })
    afterAll(async () => {
      await browser?.close()
      await program?.end()
    })

    /** Opens a page, which may do nothing wrong until the test is over. */
    async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}) {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      const wrong = await watch(page, origin)
      onTestFinished(async () => {
        await context.close()
        expect(wrong).toEqual([])
      })
      await page.goto(origin + path)
      return page
    }

    test('the first page leads to the others', async () => {
      const page = await open('/')
      expect(await page.locator('h1').innerText()).toBe('framework')
      await page.getByRole('link', { name: 'Get started' }).click()
      await page.waitForURL('**/docs/getting-started.html')
      expect(await page.locator('#sidebar [aria-current]').innerText()).toBe('1. Getting started')
      await page.locator('a.next').click()
      await page.waitForURL('**/docs/first-steps/routes.html')
      expect(await page.locator('.section').innerText()).toBe('First steps')
      await page.goto(`${origin}/docs/life-cycle.html`)
      expect(await page.getByRole('img', { name: /^The way of a request/ }).isVisible()).toBe(true)
    })

    test('a name of the first example shows its type under the pointer', async () => {
      const page = await open('/')
      await page
        .locator('figure.code [data-type]', { hasText: /^shop$/ })
        .first()
        .hover()
      expect(await page.locator('.type').innerText()).toBe('(property) shop: string')
      await page.getByText('const { book, copies }').first().waitFor({ state: 'attached' })
      await page.locator('[data-type="const copies: number"]').hover()
      expect(await page.locator('.type').innerText()).toBe('const copies: number')
      await page.keyboard.press('Escape')
      expect(await page.locator('.type').isVisible()).toBe(false)
      await page
        .locator('[data-type$="RouteCollection"]', { hasText: /^router$/ })
        .first()
        .hover()
      expect(await page.locator('.type').innerText()).toMatch(/^\(alias\) const router: \w+$/)
      await page.locator('h1').hover()
      expect(await page.locator('.type').isVisible()).toBe(false)
    })

    test.each([
      [
        'docs/first-steps/routes.html',
        'lines of a file',
        '(method) _ZodString<$ZodStringInternals<string>>.min(',
        'min',
      ],
      [
        'docs/plugins/cors.html',
        'a block with its own code',
        '(property) CorsOptions.maxAge?: number | undefined',
        'maxAge',
      ],
    ])('a name of %s shows its type: %s', async (path, _what, type, word) => {
      const page = await open(`/${path}`)
      await page
        .locator('figure.code [data-type]', { hasText: new RegExp(`^${word}$`) })
        .first()
        .hover()
      expect(await page.locator('.type').innerText()).toContain(type)
    })

    test('commands are those of the package manager that the reader has chosen, on each page', async () => {
      const page = await open('/docs/first-steps/log-in.html', { permissions: ['clipboard-read', 'clipboard-write'] })
      const block = page.locator('figure.commands').first()
      expect(await block.locator('pre:visible').innerText()).toBe(
        'npm run framework -- key-generate --type secret --env',
      )
      await block.getByRole('button', { name: 'pnpm', exact: true }).click()
      expect(await block.locator('pre:visible').innerText()).toBe('pnpm framework key-generate --type secret --env')
      await block.getByRole('button', { name: 'Copy' }).click()
      await expect
        .poll(() => page.evaluate(() => navigator.clipboard.readText()))
        .toBe('pnpm framework key-generate --type secret --env\n')
      await page.goto(`${origin}/docs/first-steps/database.html`)
      expect(await page.locator('.commands pre:visible').first().innerText()).toBe('pnpm add node-sqlite3-wasm')
      await page.getByRole('button', { name: 'deno' }).first().click()
      expect(await page.locator('.commands pre:visible').allInnerTexts()).toEqual([
        'deno add npm:node-sqlite3-wasm',
        'deno task framework migrate',
      ])
    })

    test('axe finds nothing wrong on a page of each kind, and every word has a contrast of 4.5, light and dark', async () => {
      const page = await open('/', { viewport: { width: 1440, height: 900 } })
      const faint = async () => {
        const found: string[] = []
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          found.push(...(await page.evaluate(faintWords)))
        }
        return found
      }
      for (const path of kinds) {
        await page.goto(origin + path)
        // `faintWords` is stricter. The sidebar of the other pages is that of the first two, most of what axe has to do on them.
        const known = kinds.indexOf(path) < 2 ? {} : { exclude: ['#sidebar'] }
        const found = await violations(page, { rules: { 'color-contrast': { enabled: false } } }, known)
        expect([path, found, await faint()]).toEqual([path, [], []])
      }
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('telemetry')
      await page.getByRole('option').first().waitFor()
      expect(await faint()).toEqual([])
    })

    test('a long page says where the reader is', async () => {
      const page = await open('/docs/errors.html#queues', { viewport: { width: 1440, height: 900 } })
      const current = page.locator('.contents [aria-current]')
      await expect.poll(() => current.allInnerTexts()).toEqual(['Queues'])
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
      await expect.poll(() => current.allInnerTexts()).not.toEqual(['Queues'])
    })

    test('the search finds a plugin by its words and an error by its code', async () => {
      const page = await open('/docs/guides/errors.html')
      const first = page.getByRole('option').first()
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('rate limit')
      await expect.poll(() => first.innerText()).toMatch(/^rateLimit/)
      await page.getByRole('combobox').fill('TooManySockets')
      await expect.poll(() => first.innerText()).toContain('TooManySockets')
      await page.getByRole('combobox').fill('qqxyzzy')
      await page.getByText('No results for “qqxyzzy”.').waitFor()
      await page.getByRole('combobox').fill('rate limit')
      await first.waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/docs/plugins/rateLimit.html')
    })

    test('a search whose index cannot be loaded says so, and the next key tries again', async () => {
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      await page.route('**/search.json', (route) => route.fulfill({ status: 503 }))
      await page.goto(`${origin}/`)
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('cors')
      await page.getByText('The search index could not be loaded (Error: 503').waitFor()
      await page.unroute('**/search.json')
      await page.getByRole('combobox').fill('core')
      await page.getByRole('combobox').fill('cors')
      await expect.poll(() => page.getByRole('option').first().innerText()).toMatch(/^cors/)
    })

    test('the search has a button with a name, and Escape closes it although it has text', async () => {
      const page = await open('/', { viewport: { width: 390, height: 800 } })
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('combobox').fill('cors')
      await page.keyboard.press('Escape')
      await expect.poll(() => page.getByRole('combobox').isVisible()).toBe(false)
    })

    test('without scripts, a phone finds all pages', async () => {
      const page = await open('/', { viewport: { width: 390, height: 800 }, javaScriptEnabled: false })
      expect(await page.getByRole('button', { name: 'Menu' }).isVisible()).toBe(false)
      await page.locator('#sidebar summary').first().waitFor()
      await page.locator('#sidebar').getByRole('link', { name: 'Getting started' }).click()
      await page.waitForURL('**/docs/getting-started.html')
    })

    test('a button beside the code copies it, and another one the page', async () => {
      const page = await open('/docs/plugins/cors.html', { permissions: ['clipboard-read', 'clipboard-write'] })
      const block = page.locator('figure.code').first()
      const [code, button] = [await block.locator('pre').boundingBox(), await block.getByRole('button').boundingBox()]
      expect(button!.x).toBeGreaterThanOrEqual(code!.x + code!.width)
      await block.getByRole('button').click()
      await expect.poll(() => block.getByRole('button').innerText()).toBe('Copied')
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(readFileSync(join(root, 'docs/plugins/cors.md'), 'utf8')).toContain(`\`\`\`ts\n${copied}\`\`\``)
      await page.getByRole('button', { name: 'Copy page' }).click()
      await expect
        .poll(() => page.evaluate(() => navigator.clipboard.readText()))
        .toBe(readFileSync(join(root, 'docs/plugins/cors.md'), 'utf8'))
    })

    test('the colours follow the system until the reader chooses', async () => {
      const background = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      const page = await open('/', { colorScheme: 'dark' })
      const dark = await background(page)
      await page.getByRole('button', { name: 'Light or dark' }).click()
      const light = await background(page)
      expect(light).not.toBe(dark)
      await page.goto(`${origin}/docs/cli.html`)
      expect(await background(page)).toBe(light)
      await page.getByRole('button', { name: 'Light or dark' }).click()
      expect(await background(page)).toBe(dark)
      expect(await page.evaluate(() => localStorage.length)).toBe(0)
    })

    test('no page is wider than a phone', async () => {
      const page = await open('/', { viewport: { width: 360, height: 780 } })
      // The text of each page in place of that of the first: to go there takes ten times as long.
      const texts = pages.map(({ file, html }) => [`/${file}`, /<main[\s\S]*<\/main>/.exec(html)![0]] as const)
      const wide = await page.evaluate((texts) => {
        const found: string[] = []
        // Without a turn of the event loop in between, nothing is painted.
        for (const [path, html] of texts) {
          const main = new DOMParser().parseFromString(html, 'text/html').querySelector('main')
          for (const image of main!.querySelectorAll('img'))
            image.src = new URL(image.getAttribute('src')!, new URL(path, location.href)).href
          document.querySelector('main')?.replaceWith(main!)
          const { scrollWidth, clientWidth } = document.documentElement
          if (scrollWidth > clientWidth) found.push(`${path} by ${scrollWidth - clientWidth}`)
        }
        return found
      }, texts)
      expect(wide).toEqual([])
      await page.getByRole('button', { name: 'Menu' }).click()
      expect(await page.locator('#sidebar').isVisible()).toBe(true)
      await page.keyboard.press('Escape')
      expect(await page.locator('#sidebar').isVisible()).toBe(false)
    })

    test('an unknown address has a page with everything, at any depth', async () => {
      const context: BrowserContext = await browser.newContext()
      onTestFinished(() => context.close())
      const page = await context.newPage()
      const answer = await page.goto(`${origin}/docs/plugins/nowhere/at/all`)
      expect(answer?.status()).toBe(404)
      expect(await page.locator('h1').innerText()).toBe('Page not found')
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('cors')
      await page.getByRole('option').first().click()
      await page.waitForURL('**/docs/plugins/cors.html')
    })
  })

  test('is not built with a dead link, a missing anchor, or a page that no one would find', async () => {
    const { collect } = (await import(new URL('../docs/site/collect.ts', import.meta.url).href)) as {
      collect(root: string, sidebar: object[]): { problems: string[]; pages: Map<string, unknown> }
    }
    const folder = mkdtempSync(join(tmpdir(), 'framework-site-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const write = (file: string, text: string) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    write('README.md', '# Home\n\n[a](docs/a.md#a-part)\n[b](docs/nowhere.md)\n[c](docs/code)\n[d](../outside.md)\n')
    write(
      'docs/a.md',
      '# A page\n\n## A part\n\n[x](#a-part) [y](#no-part) [z](../README.md#home) `[w](code)`\n[l](lost.md#lost)\n',
    )
    write('docs/lost.md', '# Lost\n')
    write('docs/code/one.ts', 'export {}\n')
    const site = collect(folder, [{ title: 'Start', pages: ['docs/a.md', 'docs/a.md', 'docs/b.md'] }])
    expect(site.problems).toEqual([
      'docs/a.md is in the sidebar twice',
      'docs/b.md is in the sidebar and does not exist',
      'docs/lost.md is not in the sidebar (docs/site/sidebar.ts)',
      'README.md:4: docs/nowhere.md leads nowhere',
      'README.md:6: ../outside.md leads nowhere',
      'docs/a.md:5: #no-part: docs/a.md has no such heading',
      'docs/a.md:6: lost.md#lost: docs/lost.md is shown as source; only pages of the sidebar have headings',
    ])
    expect([...site.pages.keys()]).toEqual(['README.md', 'docs/a.md', 'docs/code/', 'docs/code/one.ts', 'docs/lost.md'])
  })
})

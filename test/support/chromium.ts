import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

/**
 * The first of the usual programs that starts: on some systems one of them is a script that asks for a package of another kind. The one
 * without windows comes first: a page takes two fifths of the processor time in it.
 */
const executablePath = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
  .find((file) => existsSync(file) && spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0)

/** Whether this machine has a browser to start; the test run installs one where it can, and prints a warning where it cannot. */
export const hasChromium = executablePath !== undefined

/** Starts a headless browser without requests of its own. Close it in `afterAll`. */
export function startChromium(...more: readonly string[]): Promise<Browser> {
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      // Without a user namespace, as root in a container, the sandbox is not available.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  })
}

/**
 * Notes the forbidden events of a page, in any version of the browser: errors, calls of `console.error`, requests to other hosts,
 * refused requests, and loads that its policy blocks. The browser's own messages on the console change with each
 * version and are left out. Call it before the page navigates.
 */
export async function watch(page: Page, origin: string): Promise<string[]> {
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(String(error)))
  page.on('dialog', (dialog) => wrong.push(`dialog ${dialog.message()}`))
  page.on('requestfailed', (request) => {
    // A stream that the page ended itself, because it has read enough, is aborted.
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED') wrong.push(`failed ${request.url()}: ${reason}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) wrong.push(`${response.status()} ${response.url()}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith('data:') && new URL(url).origin !== origin) wrong.push(`foreign ${url}`)
  })
  page.on('console', (message) => {
    // Messages of the browser have no arguments.
    if (message.type() === 'error' && message.args().length > 0) wrong.push(message.text())
  })
  await page.exposeFunction('noteBlocked', (what: string) => wrong.push(what))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) => {
      const { noteBlocked } = globalThis as unknown as { noteBlocked(what: string): void }
      noteBlocked(`blocked by ${effectiveDirective}: ${blockedURI} ${sourceFile}`)
    })
  })
  return wrong
}

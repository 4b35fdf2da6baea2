import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)

/** Whether this machine has a browser to start; the test run installs one where it can, and says loudly where it cannot. */
export const hasChromium = executablePath !== undefined

/** Starts a headless browser that talks to nobody by itself. Close it in `afterAll`. */
export function startChromium(): Promise<Browser> {
  return chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      // Without a user namespace, as root in a container, the sandbox cannot be had.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

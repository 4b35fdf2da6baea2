import type { Request } from '../../../kernel/index.ts'
import { option } from '../options/index.ts'

const takes = 'an origin such as "https://example.com", without a path'

/** An option for an origin, in the form in which browsers send it. */
export const originOption = option.custom<string, string>(takes, (given, place) => {
  if (typeof given === 'string' && URL.canParse(given) && new URL(given).origin === given) return given
  return void place.wrong(given, takes)
})

/** Whether a page of this server has sent a request: a page of another one would send the user's cookies as well. */
export function isFromHere(req: Request): boolean {
  const site = req.raw.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  // Browsers omit `sec-fetch-site` without https. A client that sends neither header has no cookies to abuse, and no page.
  const origin = req.raw.header('origin')
  return origin !== undefined && origin === new URL(req.url).origin
}

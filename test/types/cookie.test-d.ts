import { router, Server, type SetCookieOptions } from 'framework'
import { type CookieOptions, cookie } from 'framework/plugins/cookie'
import type { Equal, Expect, NotAny } from './expect.ts'

new Server({ plugins: { cookie: true } })
new Server({ plugins: { cookie: { secret: 'a', defaults: { sameSite: 'strict', domain: 'a.test' } } } })
new Server([cookie(), cookie({ secret: ['a', 'b'] })])
const options: CookieOptions = { secret: ['a'] as const, defaults: {} }
cookie(options)
// @ts-expect-error a secret is text
cookie({ secret: 5 })
// @ts-expect-error no such option
new Server({ plugins: { cookie: { secrets: 'a' } } })
// @ts-expect-error no such attribute
cookie({ defaults: { httponly: true } })

router.get('/cookie-types', (req, res) => {
  const { cookies, signedCookies } = req
  type _cookies = Expect<Equal<(typeof cookies)[string], string | undefined>>
  type _signed = Expect<Equal<(typeof signedCookies)[string], string | undefined>>
  type _any = Expect<NotAny<typeof cookies>>
  const one = req.cookie('a')
  type _one = Expect<Equal<typeof one, string | undefined>>
  // @ts-expect-error cookies of a request are read only
  cookies.a = '1'
  const attributes: SetCookieOptions = { maxAge: 5, sameSite: 'none', priority: 'low', partitioned: true }
  res.cookie('a', '1').cookie('b', '2', attributes).clearCookie('c').clearCookie('d', { path: '/' }).ok()
  // @ts-expect-error a value is text
  res.cookie('a', 1)
  // @ts-expect-error a value is needed
  res.cookie('a')
  // @ts-expect-error a date is a Date
  res.cookie('a', '1', { expires: 'tomorrow' })
  // @ts-expect-error one of three, or a boolean
  res.cookie('a', '1', { sameSite: 'sometimes' })
  // @ts-expect-error no such attribute
  res.cookie('a', '1', { maxage: 5 })
})

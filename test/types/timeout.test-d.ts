import { router, Server } from 'framework'
import { timeout } from 'framework/plugins/timeout'

new Server({ plugins: { timeout: { ms: 100 } } })
timeout()
router.get('/report', { timeout: 60_000 }, () => 1)
router.get('/events', { timeout: false }, () => 1)
// @ts-expect-error milliseconds are a number
router.get('/text', { timeout: '5s' }, () => 1)
// @ts-expect-error without a limit is false
router.get('/true', { timeout: true }, () => 1)
// @ts-expect-error milliseconds are a number
timeout({ ms: '5s' })
// @ts-expect-error no such option
new Server({ plugins: { timeout: { seconds: 5 } } })

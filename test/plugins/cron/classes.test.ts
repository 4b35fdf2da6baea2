import { describe } from 'vitest'
import { protocols, suiteOf } from '../../support/protocols.ts'

describe.each(protocols)('classes of jobs, decorators of the form %s', async (protocol) => {
  ;(await suiteOf('cron-classes', protocol))()
})

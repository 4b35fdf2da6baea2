import { describe } from 'vitest'
import { protocols, suiteOf } from '../../support/protocols.ts'

for (const protocol of protocols) describe(protocol, await suiteOf('mqtt-classes', protocol))

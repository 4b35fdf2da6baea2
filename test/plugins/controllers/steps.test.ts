import { describe } from 'vitest'
import { protocols, suiteOf } from '../../support/protocols.ts'

for (const protocol of protocols) {
  for (const name of ['controllers-validate', 'controllers-serialize'] as const) {
    describe(`${name} (${protocol})`, await suiteOf(name, protocol))
  }
}

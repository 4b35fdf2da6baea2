// The same with four times as many schemas.
import './plain-ajv.test.ts'

// The same with almost four times as many random schemas.
import './schemas.test.ts'

// The same with more than four times as many schemas.
import './writers.test.ts'

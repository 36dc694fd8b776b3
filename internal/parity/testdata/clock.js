// Loaded before an original action: its clock shows PARITY_NOW.
const offset = Date.parse(process.env.PARITY_NOW) - Date.now();
const RealDate = Date;
global.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset);
    else super(...args);
  }
  static now() {
    return RealDate.now() + offset;
  }
};

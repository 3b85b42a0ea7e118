//===- Tables.td - parameters of attributes that tables name ----------------===//
#ifndef MTC_TABLES
#define MTC_TABLES

include "mlir/IR/AttrTypeBase.td"

// How a value that crosses virtual stages is called (memory.h).
def Mtc_CrossingName : AttrParameter<"::mtc::CrossingName", "the name of a value that crosses"> {
  let parser = "::mtc::parseCrossingName($_parser)";
  let printer = "$_printer << $_self.text()";
}
#endif // MTC_TABLES
